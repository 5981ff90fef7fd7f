import type { ApiTemplate } from './template.ts'

export const stripe: ApiTemplate = {
  name: 'stripe',
  title: 'Stripe',
  base_url: 'https://api.stripe.com/v1',
  auth: { type: 'bearer' },
  secrets: { token: 'STRIPE_SECRET_KEY' },
  error_format: 'stripe',
  also_hosts: [{ host: 'files.stripe.com', methods: ['GET'] }],
  actions: {
    read: [
      'GET /balance /balance_transactions /balance_transactions/*',
      'GET /charges /charges/* /customers /customers/* /payment_intents /payment_intents/*',
      'GET /invoices /invoices/* /subscriptions /subscriptions/* /refunds /refunds/*',
      'GET /products /products/* /prices /prices/* /events /events/*',
      'GET /customers/search /payment_intents/search /invoices/search',
    ],
    write: [
      'POST /customers /customers/* /payment_intents /payment_intents/*/confirm',
      'POST /payment_intents/*/capture /payment_intents/*/cancel',
      'POST /invoices /invoices/* /invoices/*/finalize /invoices/*/send /invoiceitems',
      'POST /subscriptions /subscriptions/* /checkout/sessions /payment_links',
      'POST /products /prices',
    ],
    admin: [
      'POST /refunds /payouts /transfers',
      'DELETE /customers/* /products/* /subscriptions/* /invoices/*',
      'GET,POST /webhook_endpoints',
      'POST,DELETE /webhook_endpoints/*',
    ],
  },
  words: {
    'POST /refunds': 'Refund a payment',
    'POST /payouts': 'Pay out to a bank account',
    'POST /transfers': 'Transfer money',
    'POST /charges': 'Charge a customer',
    'POST /payment_intents': 'Begin a payment',
    'POST /payment_intents/*/confirm': 'Confirm a payment',
    'POST /payment_intents/*/capture': 'Capture a payment',
    'POST /invoices/*/send': 'Send an invoice',
    'POST /subscriptions': 'Subscribe a customer',
    'DELETE /subscriptions/*': 'Cancel a subscription',
    'DELETE /customers/*': 'Delete a customer',
  },
  description: { npm: 'stripe@23.1.0', files: 'esm/resources/**/*.js', prefix: '/v1' },
}
