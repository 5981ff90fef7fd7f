/** What RE2 makes of a class of Unicode (`\p{L}`): hundreds of ranges, each in UTF-8 and in both cases. */
const UNICODE_CLASS = 200
/** A pattern that costs more takes 0.2 s to compile; `\p{L}{100}` costs less than half of it. */
const PATTERN_COST = 50_000
/** Of all patterns of a list together. */
const LIST_COST = 100_000
const ESCAPED = /\\(?:[pP](?:\{[^{}]{0,40}\}|.)|x\{[0-9a-fA-F]{1,8}\}|.)/sy
const COUNT = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y

const stickyAt = (expression: RegExp, text: string, at: number): RegExpExecArray | null => {
  expression.lastIndex = at
  return expression.exec(text)
}

const costOfEscape = (escape: string): number => (/^\\[pP]/.test(escape) ? UNICODE_CLASS : 1)

/**
 * How much RE2 has to compile: the parts of an expression, each as often as it is counted. RE2 repeats what is counted, so that the
 * length of an expression says little. Linear, and never too low for an expression that RE2 accepts.
 */
export function patternCost(expression: string): number {
  const groups: number[] = [0]
  let last = 0
  const add = (cost: number): void => {
    groups.push((groups.pop() ?? 0) + cost)
    last = cost
  }
  for (let at = 0; at < expression.length; ) {
    const sign = expression[at] ?? ''
    const escape = sign === '\\' ? (stickyAt(ESCAPED, expression, at)?.[0] ?? sign) : sign
    const count = sign === '{' ? stickyAt(COUNT, expression, at) : null
    if (count !== null) {
      const times = Math.max(1, Number(count[2] ?? 0), Number(count[1]) + (count[2] === '' ? 1 : 0))
      add(last * (times - 1))
      last *= times
      at += count[0].length
    } else if (sign === '[') {
      const end = endOfClass(expression, at)
      add(costOfClass(expression.slice(at, end)))
      at = end
    } else {
      if (sign === '(') groups.push(0)
      else if (sign === ')' && groups.length > 1) add(groups.pop() ?? 0)
      else if (!'*+?|'.includes(sign)) add(costOfEscape(escape))
      at += escape.length
    }
  }
  return groups.reduce((sum, cost) => sum + cost, 0)
}

/** A bracket directly after the opening one, or after `^`, is a member. */
function endOfClass(expression: string, start: number): number {
  let at = start + (expression[start + 1] === '^' ? 2 : 1)
  for (let isFirst = true; at < expression.length; isFirst = false) {
    if (expression[at] === ']' && !isFirst) return at + 1
    at += expression[at] === '\\' ? (stickyAt(ESCAPED, expression, at)?.[0].length ?? 1) : 1
  }
  return at
}

const costOfClass = (text: string): number =>
  1 + [...text.matchAll(/\\[pP]/g)].length * UNICODE_CLASS

/** Of the patterns of several scopes that apply to one call. */
export const MERGED_COST = 3 * LIST_COST

/** The first expression that makes a list too expensive to compile, and why; null if none does. */
export function tooExpensive(
  expressions: readonly string[],
  list_cost = LIST_COST,
): { readonly pattern: string; readonly reason: string } | null {
  let left = list_cost
  for (const pattern of expressions) {
    const cost = patternCost(pattern)
    left -= cost
    if (cost > PATTERN_COST) return { pattern, reason: TOO_LARGE }
    if (left < 0) return { pattern, reason: TOO_LARGE_TOGETHER }
  }
  return null
}

const REMEDY = 'use smaller counts such as {1,20}, and fewer classes such as \\p{L}'
const TOO_LARGE = `is too expensive to compile: ${REMEDY}`
const TOO_LARGE_TOGETHER = `makes the patterns together too expensive to compile: ${REMEDY}`
