// node sigstore.js BUNDLE KEY.pem TRUSTED_ROOT: exits with 0 if npm's @sigstore/verify accepts the
// bundle, log inclusion required. It must never use our code.
'use strict';
const { createPublicKey } = require('crypto');
const { readFileSync } = require('fs');
const { createRequire } = require('module');
const from = createRequire(process.env.TOOLEXEC_NODE_MODULES + '/');
const { bundleFromJSON } = from('@sigstore/bundle');
const { TrustedRoot } = from('@sigstore/protobuf-specs');
const { Verifier, toSignedEntity, toTrustMaterial } = from('@sigstore/verify');

const [bundleFile, keyFile, rootFile] = process.argv.slice(2);
const bundle = bundleFromJSON(JSON.parse(readFileSync(bundleFile, 'utf8')));
const root = TrustedRoot.fromJSON(JSON.parse(readFileSync(rootFile, 'utf8')));
const publicKey = createPublicKey(readFileSync(keyFile));
const trust = toTrustMaterial(root, () => ({ publicKey, validFor: () => true }));
const verifier = new Verifier(trust, { tlogThreshold: 1, timestampThreshold: 0 });
verifier.verify(toSignedEntity(bundle));
