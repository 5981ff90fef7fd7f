import type { Connection } from './api-types.ts'

export const isOauth = ({ auth }: Connection): boolean => auth.type === 'oauth2_authorization_code'

/** Whose a connection is. */
export const subjectWords = (subject: string, agentName: (id: string) => string): string =>
  subject === 'shared'
    ? 'scopes that name it'
    : subject.startsWith('agent:')
      ? `agent ${agentName(subject.slice('agent:'.length))}`
      : `user ${subject.slice('user:'.length)}`
