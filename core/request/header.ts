/** One header line as Envoy gives it: the name in lower case, the value one character per byte (latin1). */
export interface Header {
  readonly name: string
  readonly value: string
}
