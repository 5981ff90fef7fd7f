/** Every charset that some reader of `Content-Type` finds, including the forms of RFC 2231 and repeated ones. */
const CHARSET = /charset[*\d]*\s*=\s*(?:"([^"]*)|([^\s;,]*))/gi
const SAYS_CHARSET = /charset/i
/** With these, all readers read the bytes of JSON in the same way. */
const PLAIN = /^(?:utf-?8|(?:us-)?ascii)?$/i

/**
 * Whether a type names a charset in which the same bytes may be a different text: in UTF-7, which a common body parser of Node
 * supports, `+AF8-` is `_`.
 */
export function namesOtherCharset(content_type: string): boolean {
  if (!SAYS_CHARSET.test(content_type)) return false
  for (const [, quoted, bare] of content_type.matchAll(CHARSET))
    if (!PLAIN.test((quoted ?? bare ?? '').trim())) return true
  return false
}
