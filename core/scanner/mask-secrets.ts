import RE2 from 're2'

/** Formats of keys that are in use, and members that are called like a secret. */
const SECRETS = new RE2(
  [
    '-----BEGIN [A-Z ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)',
    '\\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|svcacct)?[-_A-Za-z0-9]{16,}',
    '\\b(?:agw|whsec|glpat|dop_v1|shpat|shpss|npm|pypi|hf|gsk|xai|r8|sq0atp|sq0csp|rzp_live|pat)[-_][-_A-Za-z0-9]{12,}',
    '\\bgh[pousr]_[A-Za-z0-9]{20,}|\\bgithub_pat_[A-Za-z0-9_]{20,}',
    '\\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{12,}',
    '\\bAIza[-_A-Za-z0-9]{20,}|\\bya29\\.[-_A-Za-z0-9]{20,}',
    '\\bxox[abeoprs]-[-A-Za-z0-9]{10,}',
    '\\beyJ[-_A-Za-z0-9]{8,}\\.[-_A-Za-z0-9]{8,}(?:\\.[-_A-Za-z0-9]*)?',
    '\\bSG\\.[-_A-Za-z0-9]{16,}\\.[-_A-Za-z0-9]{16,}|\\bAC[a-f0-9]{32}\\b|\\bSK[a-f0-9]{32}\\b',
    '(?i:\\b(?:bearer|basic|token) )[-_.~+/=A-Za-z0-9]{16,}',
    '(?i:(?:password|passwd|pwd|secret|token|api[-_ ]?key|access[-_ ]?key|client[-_ ]?secret)["\\\']?\\s*[:=]\\s*["\\\']?)[^\\s"\\\',;&]{6,}',
    '://[^\\s/:@]+:[^\\s/@]+@',
  ].join('|'),
  'g',
)

/** Keeps the kind of a secret and hides its value. */
export const maskSecrets = (text: string): string =>
  text.replace(SECRETS, (secret: string) => {
    const kept =
      /^(?:[A-Za-z][\w-]{0,24}["']?\s*[:= ]\s*["']?|[A-Za-z]{2,7}[-_]|:\/\/)/.exec(secret)?.[0] ??
      secret.slice(0, 4)
    return `${kept}***`
  })
