"""python3 bundle.py BUNDLE KEY.pem: exits with 0 if PyPI's securesystemslib accepts the DSSE signature,
in-toto-attestation accepts the statement, and the log entry is in the form that rfc8785 writes.
It must never use our code."""

import base64
import json
import sys

import rfc8785
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.protobuf.json_format import Parse
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementPb
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

bundle = json.load(open(sys.argv[1], encoding="utf-8"))
key = load_pem_public_key(open(sys.argv[2], "rb").read())
hint = bundle["verificationMaterial"]["publicKey"]["hint"]
envelope = Envelope.from_dict(bundle["dsseEnvelope"])
accepted = envelope.verify([SSlibKey.from_crypto(key, keyid=hint)], 1)
assert len(accepted) == 1
Statement.copy_from_pb(Parse(envelope.payload, StatementPb())).validate()
body = base64.b64decode(bundle["verificationMaterial"]["tlogEntries"][0]["canonicalizedBody"])
assert rfc8785.dumps(json.loads(body)) == body
