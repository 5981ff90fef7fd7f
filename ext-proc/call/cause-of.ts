/** The details of a `gateway_unavailable`; without a known cause there are none. */
export const causeOf = (cause: string | null): Readonly<Record<string, unknown>> =>
  cause === null ? {} : { cause }
