//! Names with a secret value, and with other values: words, variables, paths, code. All invented.

#[rustfmt::skip]
pub(crate) const ASSIGNED: &[&str] = &[
    "password=hunter2hunter2", "password = hunter2hunter2", "PASSWORD: hunter2hunter2",
    "--password=hunter2hunter2", "password=\"correcthorsebattery\"", "pwd='p@ssw0rd!'",
    "DB_PASS=hunter2hunter2", "db.password=hunter2hunter2", "{\"password\":\"hunter2hunter2\"}",
    "{\\\"password\\\": \\\"hunter2hunter2\\\"}", "password := \"hunter2hunter2\"",
    "'password' => 'hunter2hunter2'", "<password>hunter2hunter2</password>",
    "Server=db;User Id=sa;Password=Sup3rS3cret!;", "pwd=%5Ebq7Wm2c", "password=correcthorsebattery",
    "?token=a8f5f167f44f4964e6c998dee827110c&x=1", "\"api_key\": \"0123456789abcdef\"",
    "api-key: 550e8400-e29b-41d4-a716-446655440000", "apiKey='9vQ2xk7LmZt4'",
    "client_secret=q8Wn3vKz71Lp", "//registry/:_authToken=550e8400-e29b-41d4-a716-446655440000",
    "SECRET_KEY_BASE=a8f5f167f44f4964e6c998dee827110c", "access_key=\"Zk3v9Qw7Lm2Tr5\"",
    "password=enterprise2024!", "password=\"Change0fHeart\"",
    "PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=", "password: \"hunter2hunter2\"",
];

#[rustfmt::skip]
pub(crate) const NOT_ASSIGNED: &[&str] = &[
    "password: required here", "password=short", "token=short", "password=<password>",
    "password=$PASSWORD", "password=${DB_PASSWORD}", "password={{ password }}", "password=xxxxxxxx",
    "password=********", "password=%PASSWORD%", "password=changeme", "password=/etc/app/password",
    "password=./secret-1.txt", "password_file=/run/secrets/db1", "token=your-token-here-1",
    "api_key=YOUR_API_KEY", "secret=vault:kv/data/app1", "token=os.environ[\"TOKEN1\"]",
    "let token = sha256_of_the_file;", "let token = parse_token2(line);", "token: Token2,",
    "password=self.password1", "connect(user=user, password=password1_field)", "pwd = os.getcwd()",
    "if password == 'hunter2hunter2' {", "Secret::new(&b)", "token::Kind2Something",
    "passwords=hunter2hunter2", "bypass=hunter2hunter2", "key=hunter2hunter2",
    "public_key=a8f5f167f44f4964e6c998dee827110c", "max_tokens: 4096000000", "password hunter2hunter2",
    "token_sha256=a8f5f167f44f4964e6c998dee827110c", "The secret: 3 steps, then 4 more",
    "password=\"enter-password-here\"", "password=\"replaceme\"",
    "`password=…` and `token=…`", "password: \"\"", "next_token: null", "secret=@/in/secret1.txt",
];

/// Sentences and lines in other languages that state a password.
#[rustfmt::skip]
pub(crate) const STATED: &[&str] = &[
    "The password is hunter2hunter2.", "the database password is Tr0ub4dor&3, I think",
    "password for the host db1 is hunter22", "Passwort: hunter22", "Das Passwort lautet blau77wal!",
    "Kennwort = geheim77", "Mot de passe : soleil99", "contrase\u{f1}a: clave2024", "senha: abc12345",
    "\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}: zima2024", "\u{5bc6}\u{7801}\u{ff1a}abc12345",
    "The token is 9vQ2xk7LmZt4Rw8p", "curl -u alice:hunter22 https://example.org",
    "curl -s --user 'alice:hunter22' https://example.org",
    "<add key=\"ClearTextPassword\" value=\"hunter22hunter\" />",
];

/// The same words without a secret.
#[rustfmt::skip]
pub(crate) const NOT_STATED: &[&str] = &[
    "The password is not needed.", "The password is required.", "the password is sha256-hashed",
    "The password is stored as base64.", "Passwort: bitte eingeben", "Passwort: ********",
    "The password is $PASSWORD1.", "The password is <your-password-1>.", "The token is valid for 3600 s.",
    "curl -u \"$USER:$PASSWORD\" https://example.org", "curl -u alice https://example.org",
    "The key is the first column, key2 the second.", "The access: 12 times; the api = version2.",
    "sort -u names:places", "senha e contrase\u{f1}a", "the passphrase was changed in 2024",
];
