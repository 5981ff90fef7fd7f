/** In what form a webhook gets an event: the documented envelope, or a message of a chat. */
export const WEBHOOK_FORMATS = ['standard', 'slack', 'teams'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]
