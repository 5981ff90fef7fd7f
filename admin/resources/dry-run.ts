import { Type } from 'typebox'
import type { AdminCall } from '../http/define-route.ts'

/** Of every route that creates, changes or deletes a resource. */
export const DRY_RUN = {
  dry_run: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Checks the request and answers what it would do, without doing it. A creation answers 200 without a key.',
    }),
  ),
}

export const isDryRun = ({ query }: Pick<AdminCall, 'query'>): boolean =>
  (query as { readonly dry_run?: boolean } | undefined)?.dry_run === true
