import { describeStoreError } from './describe-store-error.ts'

/** Whether an unavailable store or its connection, and not a bug, is why something could not be done. */
export const isStoreError = (error: unknown): boolean => describeStoreError(error) !== null
