import { compileFunction } from 'node:vm'
import { LIBRARY, type LuaLibrary } from './lua-library.ts'

/** A script of the store as JavaScript. It is run with the library, the keys and the arguments. */
export type CompiledLua = (library: LuaLibrary) => readonly unknown[]

/**
 * Translates Lua 5.1, as far as the product's scripts use it, to JavaScript: an interpreter would take most of the time of a
 * simulation. What is not supported fails here, not when it is run.
 * @throws for syntax that is not known, and for a name that is neither local nor in the library
 */
export const compileLua = (source: string): CompiledLua =>
  compileFunction(new Compiler(tokensOf(source)).chunk(), ['L']) as CompiledLua

/** Comments and blanks, then a name, a number, a text or a sign. */
const TOKEN =
  /(?:\s|--[^\n]*)*(?:([A-Za-z_]\w*)|(\d+\.?\d*)|'((?:[^'\\]|\\[^])*)'|"((?:[^"\\]|\\[^])*)"|(\.\.\.|\.\.|[=~<>]=|[-+*/%#<>=(){}[\];:,.]))/y
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }
const KEYWORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
)

interface Token {
  readonly kind: 'name' | 'word' | 'number' | 'text' | 'sign' | 'end'
  readonly text: string
}

function tokensOf(source: string): Token[] {
  const text = source.replace(/^#!.*/, '').trimEnd()
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex
    const found = TOKEN.exec(text)
    if (found === null) {
      // Only a comment is left.
      if (/^(\s|--[^\n]*)*$/.test(text.slice(at))) break
      throw unknown(text.slice(at, at + 30))
    }
    const [, name, number, single, double, sign] = found
    const quoted = single ?? double
    if (name !== undefined) tokens.push({ kind: KEYWORDS.has(name) ? 'word' : 'name', text: name })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number })
    else if (quoted !== undefined)
      tokens.push({
        kind: 'text',
        text: quoted.replaceAll(/\\([^])/g, (_all, char: string) => ESCAPES[char] ?? char),
      })
    else tokens.push({ kind: 'sign', text: sign ?? '' })
  }
  return [...tokens, { kind: 'end', text: 'the end' }]
}

/** An expression: the code of its first value, and of a list of all its values if it is a call. */
interface Value {
  readonly one: string
  readonly many: string | null
  /** What it is when something is assigned to it. */
  readonly assign: ((value: string) => string) | null
}

const plain = (one: string): Value => ({ one, many: null, assign: null })

/** Operators from weak to strong. */
const LEVELS: readonly (readonly string[])[] = [
  ['or'],
  ['and'],
  ['==', '~=', '<', '>', '<=', '>='],
  ['..'],
  ['+', '-'],
  ['*', '/'],
]

class Compiler {
  readonly #tokens: readonly Token[]
  #at = 0
  readonly #scopes: Map<string, string>[] = []
  #names = 0
  readonly #temporaries: string[] = []

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  chunk(): string {
    const code = this.#block()
    if (this.#token.kind !== 'end') throw unknown(this.#token.text)
    const temporaries = this.#temporaries.length === 0 ? '' : `let ${this.#temporaries.join(',')};`
    return `"use strict";const {T,num,cat,get,set,len,lt,le,table,neg}=L;${temporaries}${code}return [];`
  }

  get #token(): Token {
    return this.#tokens[this.#at] as Token
  }

  #next(): Token {
    return this.#tokens[this.#at++] as Token
  }

  #is(text: string): boolean {
    const { kind, text: own } = this.#token
    return (kind === 'sign' || kind === 'word') && own === text
  }

  #takes(text: string): boolean {
    const isIt = this.#is(text)
    if (isIt) this.#at++
    return isIt
  }

  #expect(text: string): void {
    if (!this.#takes(text)) throw unknown(`${this.#token.text}, not ${text}`)
  }

  #name(): string {
    const { kind, text } = this.#next()
    if (kind !== 'name') throw unknown(`${text}, not a name`)
    return text
  }

  #declare(name: string): string {
    const own = `${name}$${this.#names++}`
    this.#scopes.at(-1)?.set(name, own)
    return own
  }

  #find(name: string): string | null {
    for (const scope of this.#scopes.toReversed()) {
      const own = scope.get(name)
      if (own !== undefined) return own
    }
    return null
  }

  #temporary(): string {
    const name = `t$${this.#names++}`
    this.#temporaries.push(name)
    return name
  }

  #scoped(make: () => string): string {
    this.#scopes.push(new Map())
    const code = make()
    this.#scopes.pop()
    return code
  }

  /** Statements up to the word that ends them. */
  #statements(): string {
    let code = ''
    while (
      this.#token.kind !== 'end' &&
      !['end', 'else', 'elseif', 'until'].some((word) => this.#is(word))
    )
      code += `${this.#statement()}\n`
    return code
  }

  #block(): string {
    return this.#scoped(() => this.#statements())
  }

  #blockToEnd(): string {
    const code = this.#block()
    this.#expect('end')
    return `{${code}}`
  }

  #statement(): string {
    if (this.#takes(';')) return ''
    if (this.#takes('local')) return this.#takes('function') ? this.#localFunction() : this.#local()
    if (this.#takes('if')) return this.#if()
    if (this.#takes('while')) {
      const condition = this.#condition('do')
      return `while(${condition})${this.#blockToEnd()}`
    }
    if (this.#takes('repeat'))
      // The condition sees the names of the body.
      return this.#scoped(() => {
        const body = this.#statements()
        this.#expect('until')
        return `for(;;){${body}if(T(${this.#value().one}))break;}`
      })
    if (this.#takes('for')) return this.#scoped(() => this.#for())
    if (this.#takes('do')) return this.#blockToEnd()
    if (this.#takes('break')) return 'break;'
    if (this.#takes('return')) {
      const isEmpty = this.#token.kind === 'end' || this.#is('end') || this.#is('else')
      const code = `return ${isEmpty ? '[]' : list(this.#values())};`
      this.#takes(';')
      return code
    }
    const value = this.#primary()
    return value.many === null ? this.#assignment(value) : `${value.many};`
  }

  #condition(word: string): string {
    const { one } = this.#value()
    this.#expect(word)
    return `T(${one})`
  }

  #if(): string {
    let code = `if(${this.#condition('then')}){${this.#block()}}`
    while (this.#takes('elseif')) code += `else if(${this.#condition('then')}){${this.#block()}}`
    if (this.#takes('else')) code += `else{${this.#block()}}`
    this.#expect('end')
    return code
  }

  #local(): string {
    const names = [this.#name()]
    while (this.#takes(',')) names.push(this.#name())
    const values = this.#takes('=') ? this.#values() : []
    const given = this.#spread(values, names.length)
    return names.map((name, i) => `let ${this.#declare(name)}=${given[i]};`).join('')
  }

  #localFunction(): string {
    const own = this.#declare(this.#name())
    return `const ${own}=${this.#function()};`
  }

  #assignment(first: Value): string {
    const targets = [first]
    while (this.#takes(',')) targets.push(this.#primary())
    this.#expect('=')
    const given = this.#spread(this.#values(), targets.length)
    const held = given.map(() => this.#temporary())
    const taken = held.map((name, i) => `${name}=${given[i]};`)
    const set = targets.map(({ assign }, i) => {
      if (assign === null) throw unknown('an assignment')
      return assign(held[i] ?? '')
    })
    return [...taken, ...set].join('')
  }

  /** The values of a list for so many names: a call at its end may give several. */
  #spread(values: readonly Value[], wanted: number): string[] {
    const last = values.at(-1)
    const all = last?.many ?? null
    const rest = all !== null && wanted > values.length ? this.#temporary() : null
    return Array.from({ length: wanted }, (_, i) => {
      if (rest === null || i < values.length - 1) return values[i]?.one ?? 'undefined'
      return i === values.length - 1 ? `(${rest}=${all})[0]` : `${rest}[${i - values.length + 1}]`
    })
  }

  #for(): string {
    const names = [this.#name()]
    if (this.#takes('=')) {
      const [from, to, step] = this.#values()
      this.#expect('do')
      const [at, end, by] = ['at', 'end', 'by'].map((word) => this.#declare(word))
      const head = `let ${at}=num(${from?.one}),${end}=num(${to?.one}),${by}=${step === undefined ? 1 : `num(${step.one})`};${by}>0?${at}<=${end}:${at}>=${end};${at}+=${by}`
      const name = this.#declare(names[0] ?? '')
      return `for(${head}){let ${name}=${at};${this.#blockToEnd()}}`
    }
    while (this.#takes(',')) names.push(this.#name())
    this.#expect('in')
    const { many } = this.#value()
    if (many === null) throw unknown('an iterator')
    this.#expect('do')
    const [next, state, at, got] = ['next', 'state', 'at', 'got'].map((word) => this.#declare(word))
    const own = names.map((name) => this.#declare(name))
    const step = `const ${got}=${next}(${state},${at});if(${got}[0]===undefined)break;${at}=${got}[0];`
    return `{let [${next},${state},${at}]=${many};for(;;){${step}let [${own.join(',')}]=${got};${this.#blockToEnd()}}}`
  }

  #function(): string {
    return this.#scoped(() => {
      this.#expect('(')
      const parameters: string[] = []
      while (!this.#takes(')')) {
        parameters.push(this.#declare(this.#name()))
        this.#takes(',')
      }
      const body = this.#block()
      this.#expect('end')
      return `function(${parameters.join(',')}){${body}return [];}`
    })
  }

  #values(): Value[] {
    const values = [this.#value()]
    while (this.#takes(',')) values.push(this.#value())
    return values
  }

  #value(level = 0): Value {
    const operators = LEVELS[level]
    if (operators === undefined) return this.#unary()
    let left = this.#value(level + 1)
    for (;;) {
      const operator = operators.find((one) => this.#is(one))
      if (operator === undefined) return left
      this.#at++
      // Only concatenation goes from right to left, which does not change its result.
      left = plain(this.#binary(operator, left.one, this.#value(level + 1).one))
    }
  }

  #binary(operator: string, left: string, right: string): string {
    switch (operator) {
      case 'and':
      case 'or': {
        const held = this.#temporary()
        const [yes, no] = operator === 'and' ? [right, held] : [held, right]
        return `(T(${held}=${left})?${yes}:${no})`
      }
      case '..':
        return `cat(${left},${right})`
      case '==':
        return `(${left}===${right})`
      case '~=':
        return `(${left}!==${right})`
      case '<':
        return `lt(${left},${right})`
      case '>':
        return `lt(${right},${left})`
      case '<=':
        return `le(${left},${right})`
      case '>=':
        return `le(${right},${left})`
      default:
        return `(num(${left})${operator}num(${right}))`
    }
  }

  #unary(): Value {
    if (this.#takes('not')) return plain(`!T(${this.#unary().one})`)
    if (this.#takes('#')) return plain(`len(${this.#unary().one})`)
    if (this.#takes('-')) return plain(`neg(${this.#unary().one})`)
    const { kind, text } = this.#token
    if (kind === 'text' || kind === 'number') {
      this.#at++
      return plain(kind === 'text' ? JSON.stringify(text) : text)
    }
    if (this.#takes('nil')) return plain('undefined')
    if (this.#takes('true')) return plain('true')
    if (this.#takes('false')) return plain('false')
    if (this.#takes('function')) return plain(this.#function())
    if (this.#is('{')) return plain(this.#table())
    return this.#primary()
  }

  /** A name or an expression in parentheses, with what follows: members, indexes and calls. */
  #primary(): Value {
    let value: Value
    if (this.#takes('(')) {
      value = plain(`(${this.#value().one})`)
      this.#expect(')')
    } else value = this.#named(this.#name())
    for (;;) {
      const { one } = value
      if (this.#takes('.')) value = memberOf(one, JSON.stringify(this.#name()))
      else if (this.#takes('[')) {
        value = memberOf(one, this.#value().one)
        this.#expect(']')
      } else if (this.#takes('(')) {
        const args = this.#takes(')') ? [] : this.#values()
        if (args.length > 0) this.#expect(')')
        const many = `${one}(${list(args).slice(1, -1)})`
        value = { one: `${many}[0]`, many, assign: null }
      } else return value
    }
  }

  #named(name: string): Value {
    const own = this.#find(name)
    if (own !== null) return { one: own, many: null, assign: (value) => `${own}=${value};` }
    if (this.#takes('.')) {
      const member = `${name}.${this.#name()}`
      if (member in LIBRARY) return plain(`L[${JSON.stringify(member)}]`)
      throw unknown(member)
    }
    if (name in LIBRARY || name === 'KEYS' || name === 'ARGV') return plain(`L.${name}`)
    throw unknown(`the name ${name}`)
  }

  #table(): string {
    this.#expect('{')
    const values: Value[] = []
    const named: string[] = []
    while (!this.#takes('}')) {
      const follows = this.#tokens[this.#at + 1]?.text
      if (this.#takes('[')) {
        const key = this.#value().one
        this.#expect(']')
        this.#expect('=')
        named.push(`[${key},${this.#value().one}]`)
      } else if (this.#token.kind === 'name' && follows === '=') {
        const key = JSON.stringify(this.#name())
        this.#expect('=')
        named.push(`[${key},${this.#value().one}]`)
      } else values.push(this.#value())
      if (!this.#takes(',')) this.#takes(';')
    }
    return `table(${list(values)},[${named.join(',')}])`
  }
}

const memberOf = (base: string, key: string): Value => ({
  one: `get(${base},${key})`,
  many: null,
  assign: (value) => `set(${base},${key},${value});`,
})

/** Values as a JavaScript array; a call at the end gives all of its own. */
const list = (values: readonly Value[]): string =>
  `[${values
    .map(({ one, many }, i) => (many !== null && i === values.length - 1 ? `...${many}` : one))
    .join(',')}]`

const unknown = (what: string): Error => new Error(`not supported in a script: ${what}`)
