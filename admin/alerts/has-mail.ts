import type { Settings } from '../../core/settings/settings.ts'

/** Whether e-mail is set up. */
export const hasMail = ({
  smtpUrl,
  alertEmailFrom,
}: Pick<Settings, 'smtpUrl' | 'alertEmailFrom'>): boolean =>
  smtpUrl !== null && alertEmailFrom !== null
