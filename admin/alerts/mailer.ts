import type { Transporter } from 'nodemailer'
import type { Settings } from '../../core/settings/settings.ts'

/** The caller retries a server that does not respond, so one attempt is short. */
const TIMEOUT_MS = 10_000

export interface Mail {
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  /**
   * Sends to the addresses of AGW_ALERT_EMAIL_TO.
   * @throws when the server does not accept it
   */
  send(mail: Mail): Promise<void>
  close(): void
}

/** Null if e-mail is off. */
export function createMailer(
  settings: Pick<Settings, 'smtpUrl' | 'alertEmailFrom' | 'alertEmailTo'>,
): Mailer | null {
  const { smtpUrl, alertEmailFrom, alertEmailTo } = settings
  if (smtpUrl === null || alertEmailFrom === null) return null
  const transport = openTransport(smtpUrl)
  // Each mail reports it.
  transport.catch(() => undefined)
  return {
    send: async ({ subject, text }) => {
      const mail = { from: alertEmailFrom, to: [...alertEmailTo], subject, text }
      await (await transport).sendMail(mail)
    },
    close: () =>
      void transport.then(
        (opened) => opened.close(),
        () => undefined,
      ),
  }
}

/** The library is loaded only where e-mail is set up. */
async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // E-mails are plain text; a name in one cannot make the library read a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}
