/** Of the Standard Webhooks specification. */
const PREFIX = 'whsec_'
const KEY_BYTES_MIN = 24
const KEY_BYTES_MAX = 64

/** What is meant as a secret of the Standard Webhooks specification, in its exact form or not. */
const LOOKS_STANDARD = /^\W*(?:v\d+\w*\W+)?wh(?:sec|sk|pk)_/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The key of a well-formed `whsec_` secret; null for any other text. */
export function standardKeyOf(secret: string): Buffer | null {
  if (!secret.startsWith(PREFIX)) return null
  const encoded = secret.slice(PREFIX.length)
  return encoded !== '' && BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : null
}

/**
 * Why no library can verify signatures with this secret, for the operator; null for a well-formed `whsec_` secret and for a text
 * of another form, whose bytes are the key.
 */
export function checkWebhookSecret(secret: string): string | null {
  if (!LOOKS_STANDARD.test(secret)) return null
  if (!secret.startsWith(PREFIX))
    return /^\W*(?:v\d+\w*\W+)?wh(?:sk|pk)_/i.test(secret)
      ? 'is an asymmetric key, which is not supported; use a whsec_ secret'
      : 'must begin with whsec_, in lower case and with nothing before it'
  const key = standardKeyOf(secret)
  if (key === null)
    return 'must be whsec_ followed by Base64 with the alphabet A-Z a-z 0-9 + / and its padding'
  return key.length < KEY_BYTES_MIN || key.length > KEY_BYTES_MAX
    ? `must have ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX} bytes after whsec_, not ${key.length}`
    : null
}
