/** What a seed is about. Each kind has work and scenarios of its own; all have faults. */
export const SUBJECTS = ['kills', 'locks', 'approvals', 'refresh', 'scopes'] as const
export type Subject = (typeof SUBJECTS)[number]

/** It is not reached; what is sent to it, or what it answers, is lost, at once or until the request is given up; it is slow. */
export const PROVIDER_FAULTS = ['away', 'request', 'answer', 'silent', 'slow'] as const
export type ProviderFault = (typeof PROVIDER_FAULTS)[number]
