/** Names of secrets in texts, as RE2 without groups, in common languages; case is ignored. */
export const SECRET_NAMES = {
  /** Names only used for passwords: any value is masked. */
  password: [
    '_?(?:p[a4@][s5$]{2}[-_ ]?(?:w[o0]rd|code|wd)s?|passwort(?:e|er)?|kennwort|losungswort|pwd|psswd|passw|\\bpw\\b)',
    "mot[-_ ]de[-_ ]passe|contrase(?:ñ|n|nh)as?|senha|palavra[-_ ]passe|parol(?:a|ă)(?: d[’']ordine)?",
    'has(?:ł|l)o|heslo|wachtwoord|l(?:ö|o)senord|adgangskoden?|kodeord(?:et)?|passord(?:et)?|salasana|jelsz(?:ó|o)|(?:ş|s)ifrem?',
    'парол[ьяюе]м?|парола|лозинка|κωδικός|mật khẩu|kata sandi|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|पासवर्ड',
    'رمز عبور|كلمة (?:المرور|السر)|סיסמה|סיסמא|รหัสผ่าน',
  ],
  /** Ordinary text uses these names for other things too: values with letters and digits are masked, and some quoted ones. */
  token: [
    '(?:\\b|_)(?:api|app|access|account|auth|client|consumer|deploy|encryption|license|master|private|refresh|secret|service|session|shared|signing|storage|subscription|user|webhook|bot|bearer|csrf|xsrf)[-_ ]?(?:key|token|secret|pass)s?',
    '(?:\\b|_)(?:cred(?:ential)?s?|secrets?|tokens?|pass\\b|connection[-_ ]?string|sharedaccesskey|api[-_ ]?schlüssel|clave|chiave|chave)',
    '(?:access|refresh|auth|id|csrf|session|bot|api|secret|private|signing)(?:token|key|secret)|schlüssel|clé|ключ|токен|令牌|密钥|密鑰|トークン|토큰',
  ],
  /** Digits or words. */
  code: [
    '(?:\\b|_)(?:pin(?:[-_ ]?(?:code|number|nummer))?|otp|totp|cvv2?|cvc)\\b',
    '(?:\\b|_)(?:security|recovery|backup|verification|auth|login|2fa|mfa)[-_ ]codes?',
  ],
  /** The secret is a sequence of words. */
  phrase: ['(?:seed|recovery|mnemonic)[-_ ](?:phrase|words)|\\bmnemonic\\b|pass[-_ ]?phrase'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type SecretName = keyof typeof SECRET_NAMES
