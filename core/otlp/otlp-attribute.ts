/** As OTLP/HTTP has it in JSON: 64-bit integers are texts. */
export interface OtlpAttribute {
  readonly key: string
  readonly value: { readonly stringValue: string } | { readonly intValue: string }
}

export const otlpAttribute = (key: string, value: string | number): OtlpAttribute => ({
  key,
  value:
    typeof value === 'string' ? { stringValue: value } : { intValue: String(Math.round(value)) },
})
