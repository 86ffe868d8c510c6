//! Tokens of services that run models. Where an issuer documents no length, the range covers the
//! keys seen so far. A prefix alone must never be enough.

use super::alphabet::Alphabet::{Alphanumeric, LowerHex, Url64};
use super::checksum::{ends_with_padding, mixed, openai_mark};
use super::kind::{SecretKind, TokenPart, exact, form, kind, run, text};

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "openai-key",
        "an OpenAI key, or one of a service that copies its form",
        "https://platform.openai.com/docs/api-reference/authentication",
        &[
            form("sk-proj-", &[run(Url64, 40, 250)]).with_check(openai_mark),
            form("sk-svcacct-", &[run(Url64, 40, 250)]).with_check(openai_mark),
            form("sk-admin-", &[run(Url64, 40, 250)]).with_check(openai_mark),
            form("sk-", &[run(Alphanumeric, 20, 64)]).with_check(mixed),
        ],
    ),
    kind(
        "anthropic-key",
        "an Anthropic key",
        "https://docs.anthropic.com/en/api/overview",
        &[
            form("sk-ant-api03-", &[exact(Url64, 95)]).with_check(ends_with_padding),
            form("sk-ant-admin01-", &[exact(Url64, 95)]).with_check(ends_with_padding),
            form("sk-ant-oat01-", &[run(Url64, 80, 160)]),
            form("sk-ant-ort01-", &[run(Url64, 80, 160)]),
            form("sk-ant-sid01-", &[run(Url64, 80, 160)]),
        ],
    ),
    kind(
        "huggingface-token",
        "a Hugging Face token",
        "https://huggingface.co/docs/hub/security-tokens",
        &[
            form("hf_", &[run(Alphanumeric, 30, 40)]),
            form("api_org_", &[run(Alphanumeric, 30, 40)]),
        ],
    ),
    kind(
        "groq-key",
        "a Groq API key",
        "https://console.groq.com/docs/quickstart",
        &[form("gsk_", &[exact(Alphanumeric, 52)])],
    ),
    kind(
        "xai-key",
        "an xAI API key",
        "https://docs.x.ai/docs/tutorial",
        &[form("xai-", &[exact(Alphanumeric, 80)])],
    ),
    kind(
        "replicate-token",
        "a Replicate API token",
        "https://replicate.com/docs/reference/http#authentication",
        &[form("r8_", &[exact(Alphanumeric, 37)])],
    ),
    kind(
        "perplexity-key",
        "a Perplexity API key",
        "https://docs.perplexity.ai/getting-started/quickstart",
        &[form("pplx-", &[exact(Alphanumeric, 48)])],
    ),
    kind(
        "openrouter-key",
        "an OpenRouter API key",
        "https://openrouter.ai/docs/api-reference/authentication",
        &[form("sk-or-v1-", &[exact(LowerHex, 64)])],
    ),
    kind(
        "nvidia-key",
        "an NVIDIA API key",
        "https://docs.nvidia.com/ngc/latest/ngc-user-guide.html",
        &[form("nvapi-", &[run(Url64, 60, 70)])],
    ),
    kind(
        "pinecone-key",
        "a Pinecone API key",
        "https://docs.pinecone.io/guides/projects/manage-api-keys",
        &[form("pcsk_", &[run(Alphanumeric, 5, 6), text("_"), run(Alphanumeric, 60, 66)])],
    ),
    kind(
        "langsmith-key",
        "a LangSmith API key",
        "https://docs.langchain.com/langsmith/create-account-api-key",
        &[form("lsv2_pt_", LANGSMITH), form("lsv2_sk_", LANGSMITH)],
    ),
    kind(
        "elevenlabs-key",
        "an ElevenLabs API key",
        "https://elevenlabs.io/docs/api-reference/authentication",
        &[form("sk_", &[exact(LowerHex, 48)]).standalone()],
    ),
];

const LANGSMITH: &[TokenPart] = &[exact(LowerHex, 32), text("_"), exact(LowerHex, 10)];
