import type { ErrorWriter } from './write-format.ts'

export const writeGateway: ErrorWriter = (error) => ({ body: JSON.stringify(error) })
