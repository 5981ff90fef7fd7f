import { Type } from 'typebox'
import { ListOf, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer } from '../http/outcome.ts'
import { PATTERN_CATALOGUE } from '../../core/scanner/pattern-catalogue.ts'

export const PatternView = Strict({
  name: Type.String(),
  category: Type.String(),
  severity: Type.Enum(['critical', 'high', 'medium']),
  description: Type.String(),
})

export const patternRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/patterns',
    role: 'viewer',
    tag: 'patterns',
    summary: 'List the built-in patterns of injection detection',
    answers: { 200: ListOf(PatternView) },
    handle: async () => answer(200, { data: PATTERN_CATALOGUE, next_cursor: null }),
  }),
]
