//! Tokens of services that host or build code, packages and images. A wrong checksum must never
//! excuse a token: it may be truncated, retyped or of a newer form.

use super::alphabet::Alphabet::{
    Alphanumeric, Base64, Digit, Equals64, Hex, LowerDigit, LowerHex, UpperDigit, Url64,
};
use super::checksum::{base62_crc, gitlab_crc, mixed};
use super::kind::{Part, SecretKind, exact, kind, run, shape, text};

/// The first routable tokens of GitLab, and those that carry a version.
const ROUTABLE: &[Part] = &[run(Url64, 27, 300), text("."), exact(LowerDigit, 9)];
const ROUTABLE_VERSION: &[Part] =
    &[run(Url64, 27, 300), text("."), exact(LowerDigit, 2), text("."), exact(LowerDigit, 9)];

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "github-token",
        "a GitHub token: personal, OAuth, app or refresh",
        "https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/",
        &[
            shape("ghp_", &[exact(Alphanumeric, 36)]).checked(mixed).summed(base62_crc),
            shape("gho_", &[exact(Alphanumeric, 36)]).checked(mixed).summed(base62_crc),
            shape("ghu_", &[exact(Alphanumeric, 36)]).checked(mixed).summed(base62_crc),
            shape("ghs_", &[exact(Alphanumeric, 36)]).checked(mixed).summed(base62_crc),
            shape("ghr_", &[exact(Alphanumeric, 36)]).checked(mixed).summed(base62_crc),
            // The long refresh token; the range of its checksum is not documented.
            shape("ghr_", &[exact(Alphanumeric, 76)]),
            // Installation tokens since 2026: the application's number and a JWT.
            shape("ghs_", STATELESS),
            // Fine-grained; its checksum is not documented.
            shape("github_pat_", &[exact(Url64, 82)]),
        ],
    ),
    kind(
        "gitlab-token",
        "a GitLab token: personal, deploy, runner, job or other",
        "https://docs.gitlab.com/security/tokens/#token-prefixes",
        &[
            shape("glpat-", &[exact(Url64, 20)]),
            shape("glpat-", ROUTABLE).summed(gitlab_crc),
            shape("glpat-", ROUTABLE_VERSION).summed(gitlab_crc),
            shape("gldt-", &[exact(Url64, 20)]),
            shape("gldt-", ROUTABLE_VERSION).summed(gitlab_crc),
            shape("glrt-", &[exact(Url64, 20)]),
            shape("glrt-t", &[exact(Digit, 1), text("_"), exact(Url64, 20)]),
            shape("glrt-", ROUTABLE).summed(gitlab_crc),
            shape("glrt-", ROUTABLE_VERSION).summed(gitlab_crc),
            shape("glrtr-", &[exact(Url64, 20)]),
            shape("glcbt-", &[run(Alphanumeric, 1, 5), text("_"), exact(Url64, 20)]),
            shape(
                "glcbt-eyJ",
                &[
                    run(Url64, 10, 2000),
                    text("."),
                    run(Url64, 10, 4000),
                    text("."),
                    run(Url64, 20, 1000),
                ],
            ),
            shape("glptt-", &[exact(LowerHex, 40)]),
            shape("glft-", &[exact(Url64, 20)]),
            shape("glimt-", &[exact(Url64, 25)]),
            shape("glagent-", &[exact(Url64, 50)]),
            shape("gloas-", &[exact(Url64, 64)]),
            shape("glsoat-", &[exact(Url64, 20)]),
            shape("glffct-", &[exact(Url64, 20)]),
            shape("GR1348941", &[exact(Url64, 20)]),
            shape("_gitlab_session=", &[exact(LowerDigit, 32)]),
        ],
    ),
    kind(
        "atlassian-token",
        "an Atlassian API token or Bitbucket app password",
        "https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/",
        &[
            shape("ATATT3", &[run(Url64, 100, 400), text("="), exact(Hex, 8)]),
            shape("ATCTT3", &[run(Url64, 100, 400), text("="), exact(Hex, 8)]),
            shape("ATATT3", &[exact(Equals64, 186)]),
            shape("ATBB", &[exact(Alphanumeric, 32)]),
        ],
    ),
    kind(
        "npm-token",
        "an npm access token",
        "https://github.blog/changelog/2021-09-23-npm-has-a-new-access-token-format/",
        &[shape("npm_", &[exact(Alphanumeric, 36)]).checked(mixed).summed(base62_crc)],
    ),
    kind(
        "pypi-token",
        "a PyPI API token",
        "https://docs.pypi.org/api/secrets/",
        &[
            shape("pypi-AgEIcHlwaS5vcmc", &[run(Url64, 50, 1000)]),
            shape("pypi-AgENdGVzdC5weXBpLm9yZw", &[run(Url64, 50, 1000)]),
        ],
    ),
    kind(
        "crates-token",
        "a crates.io API token",
        "https://doc.rust-lang.org/cargo/reference/registry-authentication.html",
        &[shape("cio", &[exact(Alphanumeric, 32)]).alone().checked(mixed)],
    ),
    kind(
        "rubygems-key",
        "a RubyGems API key",
        "https://guides.rubygems.org/api-key-scopes/",
        &[shape("rubygems_", &[exact(LowerHex, 48)])],
    ),
    kind(
        "nuget-key",
        "a NuGet API key",
        "https://learn.microsoft.com/nuget/nuget-org/publish-a-package",
        &[shape("oy2", &[exact(LowerDigit, 43)]).alone().checked(mixed)],
    ),
    kind(
        "clojars-token",
        "a Clojars deploy token",
        "https://github.com/clojars/clojars-web/wiki/Deploy-Tokens",
        &[shape("CLOJARS_", &[exact(Alphanumeric, 60)])],
    ),
    kind(
        "docker-token",
        "a Docker Hub personal or organisation token",
        "https://docs.docker.com/security/access-tokens/",
        &[shape("dckr_pat_", &[exact(Url64, 27)]), shape("dckr_oat_", &[run(Url64, 27, 40)])],
    ),
    kind(
        "artifactory-key",
        "a JFrog Artifactory API key or reference token",
        "https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens",
        &[shape("AKCp", &[exact(Alphanumeric, 69)]), shape("cmVmd", &[exact(Alphanumeric, 59)])],
    ),
    kind(
        "sonar-token",
        "a SonarQube token",
        "https://docs.sonarsource.com/sonarqube-server/latest/user-guide/managing-tokens/",
        &[
            shape("squ_", &[exact(LowerHex, 40)]),
            shape("sqp_", &[exact(LowerHex, 40)]),
            shape("sqa_", &[exact(LowerHex, 40)]),
        ],
    ),
    kind(
        "sourcegraph-token",
        "a Sourcegraph access token",
        "https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token",
        &[
            shape("sgp_", &[exact(Hex, 16), text("_"), exact(Hex, 40)]),
            shape("sgp_local_", &[exact(Hex, 40)]),
            shape("sgp_", &[exact(Hex, 40)]),
        ],
    ),
    kind(
        "circleci-token",
        "a CircleCI token",
        "https://circleci.com/docs/managing-api-tokens/",
        &[
            shape("CCIPAT_", &[exact(Alphanumeric, 22), text("_"), exact(LowerHex, 40)]),
            shape("CCIPRJ_", &[exact(Alphanumeric, 22), text("_"), exact(LowerHex, 40)]),
        ],
    ),
    kind(
        "buildkite-token",
        "a Buildkite API token",
        "https://buildkite.com/docs/apis/managing-api-tokens",
        &[shape("bkua_", &[exact(LowerHex, 40)])],
    ),
    kind(
        "octopus-key",
        "an Octopus Deploy API key",
        "https://octopus.com/docs/octopus-rest-api/how-to-create-an-api-key",
        &[shape("API-", &[run(UpperDigit, 25, 36)]).alone().checked(mixed)],
    ),
    kind(
        "harness-key",
        "a Harness API key",
        "https://developer.harness.io/docs/platform/automation/api/add-and-manage-api-keys/",
        &[shape("pat.", HARNESS), shape("sat.", HARNESS)],
    ),
    kind(
        "prefect-key",
        "a Prefect API key",
        "https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys",
        &[shape("pnu_", &[exact(Alphanumeric, 36)]), shape("pnb_", &[exact(Alphanumeric, 36)])],
    ),
    kind(
        "infracost-key",
        "an Infracost API key",
        "https://www.infracost.io/docs/",
        &[shape("ico-", &[exact(Alphanumeric, 32)]).alone()],
    ),
    kind(
        "sentry-token",
        "a Sentry user or organisation token",
        "https://docs.sentry.io/account/auth-tokens/",
        &[
            shape("sntryu_", &[exact(LowerHex, 64)]),
            shape("sntrys_eyJ", &[run(Base64, 30, 500), text("_"), exact(Base64, 43)]),
            shape("sntrys_eyJ", &[run(Base64, 30, 500), text("=_"), exact(Base64, 43)]),
            shape("sntrys_eyJ", &[run(Base64, 30, 500), text("==_"), exact(Base64, 43)]),
        ],
    ),
];

const STATELESS: &[Part] = &[
    run(Digit, 1, 12),
    text("_eyJ"),
    run(Url64, 10, 1000),
    text("."),
    run(Url64, 10, 2000),
    text("."),
    run(Url64, 20, 1000),
];
const HARNESS: &[Part] =
    &[exact(Url64, 22), text("."), exact(Alphanumeric, 24), text("."), exact(Alphanumeric, 20)];
