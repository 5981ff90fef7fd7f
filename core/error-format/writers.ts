import { writeAnthropic } from './anthropic.ts'
import { writeAws } from './aws.ts'
import { writeGateway } from './gateway.ts'
import { writeGoogle } from './google.ts'
import { writeJsonrpc } from './jsonrpc.ts'
import { writeNotion } from './notion.ts'
import { writeOpenai } from './openai.ts'
import { writeSlack } from './slack.ts'
import { writeStripe } from './stripe.ts'
import type { ErrorFormat } from '../catalogue/error-formats.ts'
import type { ErrorWriter } from './write-format.ts'

export const ERROR_WRITERS: Readonly<Record<ErrorFormat, ErrorWriter>> = {
  anthropic: writeAnthropic,
  aws: writeAws,
  gateway: writeGateway,
  google: writeGoogle,
  jsonrpc: writeJsonrpc,
  notion: writeNotion,
  openai: writeOpenai,
  slack: writeSlack,
  stripe: writeStripe,
}
