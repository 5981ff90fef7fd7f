/** Every place at which some reader of `Content-Type` finds a charset, RFC 2231's forms and repeated ones included. */
const CHARSET = /charset[*\d]*\s*=\s*(?:"([^"]*)|([^\s;,]*))/gi
const SAYS_CHARSET = /charset/i
/** Under these all readers take the bytes of JSON alike. */
const PLAIN = /^(?:utf-?8|(?:us-)?ascii)?$/i

/**
 * Whether a type names a charset in which the same bytes may be another text: in UTF-7, which a common body parser of
 * Node knows, `+AF8-` is `_`.
 */
export function namesOtherCharset(content_type: string): boolean {
  if (!SAYS_CHARSET.test(content_type)) return false
  for (const [, quoted, bare] of content_type.matchAll(CHARSET))
    if (!PLAIN.test((quoted ?? bare ?? '').trim())) return true
  return false
}
