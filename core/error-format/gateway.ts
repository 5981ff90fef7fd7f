import type { ErrorWriter } from './write-format.ts'

/** The error body of this gateway. */
export const writeGateway: ErrorWriter = (error) => ({ body: JSON.stringify(error) })
