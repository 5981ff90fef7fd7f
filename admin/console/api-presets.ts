import type { Auth } from './parts/auth-fields.tsx'

export interface ApiPreset {
  readonly title: string
  readonly name: string
  readonly base_url: string
  /** Without its secret members. */
  readonly auth: Auth
  readonly allow_encoded_slashes?: true
}

const bearer = { type: 'bearer' } as const

/** Well-known APIs: address and kind of credential, as their documentation gives them. */
export const API_PRESETS: readonly ApiPreset[] = [
  {
    title: 'Anthropic',
    name: 'anthropic',
    base_url: 'https://api.anthropic.com/v1',
    auth: { type: 'header', name: 'x-api-key' },
  },
  { title: 'GitHub', name: 'github', base_url: 'https://api.github.com', auth: bearer },
  {
    title: 'GitLab',
    name: 'gitlab',
    base_url: 'https://gitlab.com/api/v4',
    auth: { type: 'header', name: 'PRIVATE-TOKEN' },
    allow_encoded_slashes: true,
  },
  {
    title: 'Google Gemini',
    name: 'gemini',
    base_url: 'https://generativelanguage.googleapis.com/v1beta',
    auth: { type: 'header', name: 'x-goog-api-key' },
  },
  { title: 'HubSpot', name: 'hubspot', base_url: 'https://api.hubapi.com', auth: bearer },
  { title: 'Mistral', name: 'mistral', base_url: 'https://api.mistral.ai/v1', auth: bearer },
  { title: 'Notion', name: 'notion', base_url: 'https://api.notion.com/v1', auth: bearer },
  { title: 'OpenAI', name: 'openai', base_url: 'https://api.openai.com/v1', auth: bearer },
  { title: 'SendGrid', name: 'sendgrid', base_url: 'https://api.sendgrid.com/v3', auth: bearer },
  { title: 'Slack', name: 'slack', base_url: 'https://slack.com/api', auth: bearer },
  { title: 'Stripe', name: 'stripe', base_url: 'https://api.stripe.com/v1', auth: bearer },
]
