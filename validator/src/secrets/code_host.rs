//! Tokens of services that host or build code, packages and images. A wrong checksum must never
//! excuse a token: it may be truncated, retyped or of a newer form.

use super::alphabet::Alphabet::{
    Alphanumeric, Base64, Digit, Equals64, Hex, LowerDigit, LowerHex, UpperDigit, Url64,
};
use super::checksum::{base62_crc, gitlab_crc, mixed};
use super::kind::{SecretKind, TokenPart, exact, form, kind, run, text};

/// The first routable tokens of GitLab, and those that carry a version.
const ROUTABLE: &[TokenPart] = &[run(Url64, 27, 300), text("."), exact(LowerDigit, 9)];
const ROUTABLE_VERSION: &[TokenPart] =
    &[run(Url64, 27, 300), text("."), exact(LowerDigit, 2), text("."), exact(LowerDigit, 9)];

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "github-token",
        "a GitHub token: personal, OAuth, app or refresh",
        "https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/",
        &[
            form("ghp_", &[exact(Alphanumeric, 36)]).with_check(mixed).with_checksum(base62_crc),
            form("gho_", &[exact(Alphanumeric, 36)]).with_check(mixed).with_checksum(base62_crc),
            form("ghu_", &[exact(Alphanumeric, 36)]).with_check(mixed).with_checksum(base62_crc),
            form("ghs_", &[exact(Alphanumeric, 36)]).with_check(mixed).with_checksum(base62_crc),
            form("ghr_", &[exact(Alphanumeric, 36)]).with_check(mixed).with_checksum(base62_crc),
            // The long refresh token; the range of its checksum is not documented.
            form("ghr_", &[exact(Alphanumeric, 76)]),
            // Installation tokens since 2026: the application's number and a JWT.
            form("ghs_", STATELESS),
            // Fine-grained; its checksum is not documented.
            form("github_pat_", &[exact(Url64, 82)]),
        ],
    ),
    kind(
        "gitlab-token",
        "a GitLab token: personal, deploy, runner, job or other",
        "https://docs.gitlab.com/security/tokens/#token-prefixes",
        &[
            form("glpat-", &[exact(Url64, 20)]),
            form("glpat-", ROUTABLE).with_checksum(gitlab_crc),
            form("glpat-", ROUTABLE_VERSION).with_checksum(gitlab_crc),
            form("gldt-", &[exact(Url64, 20)]),
            form("gldt-", ROUTABLE_VERSION).with_checksum(gitlab_crc),
            form("glrt-", &[exact(Url64, 20)]),
            form("glrt-t", &[exact(Digit, 1), text("_"), exact(Url64, 20)]),
            form("glrt-", ROUTABLE).with_checksum(gitlab_crc),
            form("glrt-", ROUTABLE_VERSION).with_checksum(gitlab_crc),
            form("glrtr-", &[exact(Url64, 20)]),
            form("glcbt-", &[run(Alphanumeric, 1, 5), text("_"), exact(Url64, 20)]),
            form(
                "glcbt-eyJ",
                &[
                    run(Url64, 10, 2000),
                    text("."),
                    run(Url64, 10, 4000),
                    text("."),
                    run(Url64, 20, 1000),
                ],
            ),
            form("glptt-", &[exact(LowerHex, 40)]),
            form("glft-", &[exact(Url64, 20)]),
            form("glimt-", &[exact(Url64, 25)]),
            form("glagent-", &[exact(Url64, 50)]),
            form("gloas-", &[exact(Url64, 64)]),
            form("glsoat-", &[exact(Url64, 20)]),
            form("glffct-", &[exact(Url64, 20)]),
            form("GR1348941", &[exact(Url64, 20)]),
            form("_gitlab_session=", &[exact(LowerDigit, 32)]),
        ],
    ),
    kind(
        "atlassian-token",
        "an Atlassian API token or Bitbucket app password",
        "https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/",
        &[
            form("ATATT3", &[run(Url64, 100, 400), text("="), exact(Hex, 8)]),
            form("ATCTT3", &[run(Url64, 100, 400), text("="), exact(Hex, 8)]),
            form("ATATT3", &[exact(Equals64, 186)]),
            form("ATBB", &[exact(Alphanumeric, 32)]),
        ],
    ),
    kind(
        "npm-token",
        "an npm access token",
        "https://github.blog/changelog/2021-09-23-npm-has-a-new-access-token-format/",
        &[form("npm_", &[exact(Alphanumeric, 36)]).with_check(mixed).with_checksum(base62_crc)],
    ),
    kind(
        "pypi-token",
        "a PyPI API token",
        "https://docs.pypi.org/api/secrets/",
        &[
            form("pypi-AgEIcHlwaS5vcmc", &[run(Url64, 50, 1000)]),
            form("pypi-AgENdGVzdC5weXBpLm9yZw", &[run(Url64, 50, 1000)]),
        ],
    ),
    kind(
        "crates-token",
        "a crates.io API token",
        "https://doc.rust-lang.org/cargo/reference/registry-authentication.html",
        &[form("cio", &[exact(Alphanumeric, 32)]).standalone().with_check(mixed)],
    ),
    kind(
        "rubygems-key",
        "a RubyGems API key",
        "https://guides.rubygems.org/api-key-scopes/",
        &[form("rubygems_", &[exact(LowerHex, 48)])],
    ),
    kind(
        "nuget-key",
        "a NuGet API key",
        "https://learn.microsoft.com/nuget/nuget-org/publish-a-package",
        &[form("oy2", &[exact(LowerDigit, 43)]).standalone().with_check(mixed)],
    ),
    kind(
        "clojars-token",
        "a Clojars deploy token",
        "https://github.com/clojars/clojars-web/wiki/Deploy-Tokens",
        &[form("CLOJARS_", &[exact(Alphanumeric, 60)])],
    ),
    kind(
        "docker-token",
        "a Docker Hub personal or organisation token",
        "https://docs.docker.com/security/access-tokens/",
        &[form("dckr_pat_", &[exact(Url64, 27)]), form("dckr_oat_", &[run(Url64, 27, 40)])],
    ),
    kind(
        "artifactory-key",
        "a JFrog Artifactory API key or reference token",
        "https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens",
        &[form("AKCp", &[exact(Alphanumeric, 69)]), form("cmVmd", &[exact(Alphanumeric, 59)])],
    ),
    kind(
        "sonar-token",
        "a SonarQube token",
        "https://docs.sonarsource.com/sonarqube-server/latest/user-guide/managing-tokens/",
        &[
            form("squ_", &[exact(LowerHex, 40)]),
            form("sqp_", &[exact(LowerHex, 40)]),
            form("sqa_", &[exact(LowerHex, 40)]),
        ],
    ),
    kind(
        "sourcegraph-token",
        "a Sourcegraph access token",
        "https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token",
        &[
            form("sgp_", &[exact(Hex, 16), text("_"), exact(Hex, 40)]),
            form("sgp_local_", &[exact(Hex, 40)]),
            form("sgp_", &[exact(Hex, 40)]),
        ],
    ),
    kind(
        "circleci-token",
        "a CircleCI token",
        "https://circleci.com/docs/managing-api-tokens/",
        &[
            form("CCIPAT_", &[exact(Alphanumeric, 22), text("_"), exact(LowerHex, 40)]),
            form("CCIPRJ_", &[exact(Alphanumeric, 22), text("_"), exact(LowerHex, 40)]),
        ],
    ),
    kind(
        "buildkite-token",
        "a Buildkite API token",
        "https://buildkite.com/docs/apis/managing-api-tokens",
        &[form("bkua_", &[exact(LowerHex, 40)])],
    ),
    kind(
        "octopus-key",
        "an Octopus Deploy API key",
        "https://octopus.com/docs/octopus-rest-api/how-to-create-an-api-key",
        &[form("API-", &[run(UpperDigit, 25, 36)]).standalone().with_check(mixed)],
    ),
    kind(
        "harness-key",
        "a Harness API key",
        "https://developer.harness.io/docs/platform/automation/api/add-and-manage-api-keys/",
        &[form("pat.", HARNESS), form("sat.", HARNESS)],
    ),
    kind(
        "prefect-key",
        "a Prefect API key",
        "https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys",
        &[form("pnu_", &[exact(Alphanumeric, 36)]), form("pnb_", &[exact(Alphanumeric, 36)])],
    ),
    kind(
        "infracost-key",
        "an Infracost API key",
        "https://www.infracost.io/docs/",
        &[form("ico-", &[exact(Alphanumeric, 32)]).standalone()],
    ),
    kind(
        "sentry-token",
        "a Sentry user or organisation token",
        "https://docs.sentry.io/account/auth-tokens/",
        &[
            form("sntryu_", &[exact(LowerHex, 64)]),
            form("sntrys_eyJ", &[run(Base64, 30, 500), text("_"), exact(Base64, 43)]),
            form("sntrys_eyJ", &[run(Base64, 30, 500), text("=_"), exact(Base64, 43)]),
            form("sntrys_eyJ", &[run(Base64, 30, 500), text("==_"), exact(Base64, 43)]),
        ],
    ),
];

const STATELESS: &[TokenPart] = &[
    run(Digit, 1, 12),
    text("_eyJ"),
    run(Url64, 10, 1000),
    text("."),
    run(Url64, 10, 2000),
    text("."),
    run(Url64, 20, 1000),
];
const HARNESS: &[TokenPart] =
    &[exact(Url64, 22), text("."), exact(Alphanumeric, 24), text("."), exact(Alphanumeric, 20)];
