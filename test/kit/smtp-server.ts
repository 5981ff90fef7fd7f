import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface KitMail {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}

export interface KitSmtp {
  readonly url: string
  readonly mails: readonly KitMail[]
  /** The next mails are refused with 451. */
  readonly refuseNext: (count: number) => void
  /** Whether logins are refused from now on. */
  readonly refuseLogins: (refuses: boolean) => void
  readonly stop: () => Promise<void>
}

/** A real mail server that keeps what it takes. */
export async function startSmtpServer(): Promise<KitSmtp> {
  const mails: KitMail[] = []
  let refused = 0
  let refusesLogins = false
  const smtp = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    // A refusal repeats the password, as a careless server may.
    onAuth: ({ username, password }, _, done) =>
      refusesLogins
        ? done(new Error(`no user ${username} with the password ${password}`))
        : done(null, { user: username }),
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) => {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.once('end', () => {
        if (refused > 0) {
          refused--
          return done(Object.assign(new Error('try later'), { responseCode: 451 }))
        }
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom === false ? '' : mailFrom.address
        const text = Buffer.concat(parts).toString()
        mails.push({ from, to: rcptTo.map(({ address }) => address), text })
        done()
      })
    },
  })
  const server = smtp.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails,
    refuseNext: (count) => {
      refused = count
    },
    refuseLogins: (refuses) => {
      refusesLogins = refuses
    },
    stop: () => new Promise((resolve) => smtp.close(() => resolve())),
  }
}
