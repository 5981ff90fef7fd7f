/**
 * The name under which a CGI-like upstream sees a header: lower case, everything that is no letter or digit
 * the same. `X_Api_Key` and `x.api.key` are `x-api-key` to such an upstream, so they are to us.
 */
export function plainHeaderName(name: string): string {
  for (let i = 0; i < name.length; i++) {
    const c = name.charCodeAt(i)
    if (!((c >= 0x61 && c <= 0x7a) || c === 0x2d || (c >= 0x30 && c <= 0x39)))
      return name.toLowerCase().replace(/[^a-z0-9]/g, '-')
  }
  return name
}
