import { type Command, InvalidArgumentError, Option } from 'commander'

/** The options of every command that calls the admin API. */
export const callsAdmin = (command: Command): Command =>
  command
    .option('--url <url>', 'address of the admin API (AGW_URL)', webAddress)
    .option('--token <token>', 'admin token (AGW_TOKEN)')

/** Of those that also print what it returns. */
export const asksAdminAs = (command: Command, output: Option): Command =>
  callsAdmin(command).addOption(output)

export const asksAdmin = (command: Command): Command =>
  asksAdminAs(
    command,
    new Option('-o, --output <form>', 'output format').choices(['table', 'json']).default('table'),
  )

export function webAddress(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new InvalidArgumentError('must start with http:// or https://')
  return text
}
