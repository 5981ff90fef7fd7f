/** https, or http on loopback, which stays on this machine. */
export const isSecureUrl = (text: string): boolean =>
  /^https:\/\/[^/?#@]+([/?]|$)/i.test(text) ||
  /^http:\/\/(127(\.\d{1,3}){3}|\[::1\]|localhost)(:\d{1,5})?([/?]|$)/i.test(text)
