/**
 * The name of a header as a CGI-like upstream reads it: in lower case, with all characters other than letters and digits equal.
 * `X_Api_Key` and `x.api.key` are `x-api-key` for such an upstream, so they are here too.
 */
export function plainHeaderName(name: string): string {
  for (let i = 0; i < name.length; i++) {
    const c = name.charCodeAt(i)
    if (!((c >= 0x61 && c <= 0x7a) || c === 0x2d || (c >= 0x30 && c <= 0x39)))
      return name.toLowerCase().replace(/[^a-z0-9]/g, '-')
  }
  return name
}
