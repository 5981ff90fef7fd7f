/** Whether the store rejects a write because it cannot save its data, for which a full disk is the usual cause. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('MISCONF')
