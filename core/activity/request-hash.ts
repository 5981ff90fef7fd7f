const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** Six bits each. */
const DIGITS = 4

/**
 * Almost every entry has its own request id, and an index for each would take more memory than the log. One index contains
 * these hashes instead; its results are checked against the entries. FNV-1a over the code units.
 */
export function requestHash(request_id: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < request_id.length; i++)
    hash = Math.imul(hash ^ request_id.charCodeAt(i), 0x01000193)
  let text = ''
  for (let digit = 0; digit < DIGITS; digit++)
    text += ALPHABET.charAt((hash >>> (digit * 6 + 2)) & 63)
  return text
}
