import type { Envelope } from '../../core/change/build-envelope.ts'
import { type ApiPlace, consoleLink } from '../../core/settings/console-link.ts'
import { describeEvent, type EventMessage } from './describe-event.ts'
import type { WebhookFormat } from './webhook-format.ts'

/** The bytes that a webhook of this format gets for an envelope. Envelopes are stored once for all webhooks. */
export function formatBody(body: Buffer, format: WebhookFormat, place: ApiPlace): Buffer {
  if (format === 'standard') return body
  const message = describeEvent(JSON.parse(body.toString()) as Envelope)
  const link = consoleLink(place, ...message.page)
  return Buffer.from(
    JSON.stringify(format === 'slack' ? slack(message, link) : teams(message, link)),
  )
}

const BUTTON = 'Open in the console'

/**
 * Block Kit. Every text is `plain_text`, in which nothing is a mention or a link. `text` is what notifications show; it cannot be
 * plain, so it has no text of others.
 */
function slack({ title, summary, facts }: EventMessage, link: string): object {
  const plain = (text: string): object => ({ type: 'plain_text', text, emoji: false })
  return {
    text: title,
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(title) },
      ...(summary === '' ? [] : [{ type: 'section', text: plain(summary) }]),
      {
        type: 'section',
        fields: facts.map(({ label, value }) => plain(`${label}\n${value}`)),
      },
      {
        type: 'actions',
        elements: [{ type: 'button', text: plain(BUTTON), url: link, action_id: 'open' }],
      },
    ],
  }
}

/** An Adaptive Card. A `TextRun` has no Markdown, which a `TextBlock` has: text of others is only in runs. */
function teams({ title, summary, facts }: EventMessage, link: string): object {
  const lines = (...inlines: readonly object[]): object => ({ type: 'RichTextBlock', inlines })
  const run = (text: string, more: object = {}): object => ({ type: 'TextRun', text, ...more })
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      lines(run(title, { size: 'Large', weight: 'Bolder' })),
      ...(summary === '' ? [] : [lines(run(summary))]),
      ...facts.map(({ label, value }) =>
        lines(run(`${label}: `, { weight: 'Bolder' }), run(value)),
      ),
    ],
    actions: [{ type: 'Action.OpenUrl', title: BUTTON, url: link }],
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] }
}
