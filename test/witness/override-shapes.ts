/** A request that some framework may read as another one. Bytes are latin1, one character each. */
export interface OverrideShape {
  readonly name: string
  readonly method: string
  /** Path and query as they stand in the request line. */
  readonly target: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

export const SHAPE_PATH = '/items/1'
const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data; boundary=b'

const shape = (name: string, given: Partial<OverrideShape>): OverrideShape => ({
  method: 'POST',
  target: SHAPE_PATH,
  headers: [],
  body: '',
  ...given,
  name,
})
const form = (name: string, body: string, type: string | null = FORM): OverrideShape =>
  shape(name, { headers: type === null ? [] : [['Content-Type', type]], body })
const query = (name: string, text: string): OverrideShape =>
  shape(name, { target: `${SHAPE_PATH}?${text}` })

const NAMES = [
  '_method',
  '_METHOD',
  '_Method',
  '%5Fmethod',
  '%5f%6d%65%74%68%6f%64',
  '%255Fmethod',
  '.method',
  '%2emethod',
  '+_method',
  '%20_method',
  '++%20_method',
  '%09_method',
  '%0a_method',
  '_method%20',
  '_method+',
  '_method%00',
  '_method%00x',
  '%00_method',
  '_method%00%5B%5D',
  '-method',
  '+method',
  '%20method',
  '%5Bmethod',
  '[method',
  '~method',
  '!method',
  '_method[]',
  '_method%5B%5D',
  '_method[0]',
  '_method[a]',
  '[_method]',
  '%5B_method%5D',
  '_method[',
  '_method%5B',
  '_method]',
  '_method.',
  '_method._',
  '_%6Dethod',
  '_m%65thod',
  '%EF%BC%BFmethod',
  '_%EF%BD%8Dethod',
  '_%C5%BFmethod',
  '_metho%D0%B4',
  '_\\method',
  '_method%EF%BB%BF',
  '%EF%BB%BF_method',
  '_method%C2%A0',
  '%C2%A0_method',
  '_method;x',
  'method',
  'Method',
  'METHOD',
  '_HttpMethod',
  'httpMethod',
  'http_method',
  '$httpMethod',
  'X-HTTP-Method-Override',
  'x-http-method-override',
  'X-HTTP-Method',
  'X-Method-Override',
  'x-tunneled-method',
  'X-Tunneled-Method',
  'alf_method',
  '__METHOD_OVERRIDE__',
  '_method_override',
  'REQUEST_METHOD_OVERRIDE',
  '_methods',
  'x_method',
  '__method',
  '_Method_',
]
const VALUES = [
  'DELETE',
  'delete',
  'Delete',
  'PUT',
  'patch',
  '%44ELETE',
  '%2544ELETE',
  'DELETE%20',
  '+DELETE',
  '%20DELETE',
  'DELETE%00',
  'DELETE%00x',
  'DELETE%0d%0a',
  'DELETE,GET',
  'DELETE;x',
  '%EF%BC%A4ELETE',
]
const TYPES: readonly (string | null)[] = [
  FORM,
  'Application/X-WWW-Form-URLencoded',
  `${FORM};`,
  `${FORM};charset=utf-8`,
  `${FORM},text/plain`,
  `${FORM}, text/plain`,
  `${FORM} text/plain`,
  `${FORM} ;x`,
  `${FORM}\t`,
  `${FORM}\ttext/plain`,
  `text/plain,${FORM}`,
  `text/plain; ${FORM}`,
  `application/json,${FORM}`,
  `application/json; charset=utf-8, ${FORM}`,
  `${FORM}x`,
  `x${FORM}`,
  ` ${FORM}`,
  `"${FORM}"`,
  null,
  '',
  ',',
  ';',
  '/',
  'x',
  '*/*',
  'text',
  'text/plain',
  'application/json',
  'text/html',
  'application/octet-stream',
  'image/png',
  'application/x-unknown',
  'application/*',
  'form',
  'application/x-www-form',
  'application/x-www-form-urlencoded+x',
  'multipart/form-data',
]
const SEPARATED = [
  'a=1&_method=DELETE',
  'a=1;_method=DELETE',
  'a=1&&_method=DELETE',
  'a=1&;_method=DELETE',
  '&_method=DELETE',
  ';_method=DELETE',
  '?_method=DELETE',
  'a=1,_method=DELETE',
  'a=1\n_method=DELETE',
  'a=1\r\n_method=DELETE',
  '_method=DELETE\r\n',
  '_method=GET&_method=DELETE',
  '_method=DELETE&_method=GET',
  '_method=POST&_method=DELETE',
  '_method=&_method=DELETE',
  '_method&_method=DELETE',
  '_method=&.method=DELETE',
  '_method=POST&.method=DELETE',
  '=&_method=DELETE',
  'a&_method=DELETE',
  '%&_method=DELETE',
  '%zz=1&_method=DELETE',
  'a=%&_method=DELETE',
  `${'a=1&'.repeat(900)}_method=DELETE`,
  `${'a=1&'.repeat(5_000)}_method=DELETE`,
  '_method==DELETE',
  '_method%3DDELETE',
  '_method =DELETE',
  '_method= DELETE',
  '_method+=DELETE',
  '"_method"=DELETE',
  '\xef\xbb\xbf_method=DELETE',
]

const part = (head: string, text = 'DELETE', end = '\r\n'): string =>
  ['--b', ...head.split('\n'), '', text, '--b--', ''].join(end)
const disposition = (rest: string): string => `Content-Disposition: form-data; ${rest}`
const HEADS = [
  'name="_method"',
  "name='_method'",
  'name=_method',
  'name="_\\method"',
  'name="\\_method"',
  'name="_\\m\\e\\t\\h\\o\\d"',
  'name=_\\method',
  'name=".method"',
  'name=.method',
  'name=" _method"',
  'name="_method "',
  'name="_method%00x"',
  'name="_method\0x"',
  'name="%5Fmethod"',
  'name=%5Fmethod',
  'name="[_method]"',
  'name="_method[]"',
  'name="_method["',
  'name="a"; name="_method"',
  'name="_method"; name="a"',
  'NAME="_method"',
  'Name=_method',
  'name ="_method"',
  'name= "_method"',
  'name = _method',
  'name="_method',
  'name=_method"',
  "name='_method",
  'name=""_method"',
  "name*=UTF-8''_method",
  "name*=utf-8''%5Fmethod",
  'name*0="_me"; name*1="thod"',
  'name*="_method"',
  "name=a; name*=UTF-8''_method",
  'name="=?UTF-8?B?X21ldGhvZA==?="',
  'name="=?utf-8?q?=5Fmethod?="',
  '\n name="_method"',
  '\n	name=_method',
  'name="_method"; filename=""',
  'name="_method"; filename="x"',
  'filename="_method"',
  'filename="x"; name="_method"',
  'x="; name=a"; name="_method"',
  ';name=_method',
  'name:"_method"',
  ',name="_method"',
  'name="_METHOD"',
  'name="_HttpMethod"',
  'name="method"',
  'name="X-HTTP-Method-Override"',
  'name="&#95;method"',
  'name="\\u005fmethod"',
]
  .map(disposition)
  .concat([
    'Content-Disposition:form-data;name=_method',
    'content-disposition: form-data; name=_method',
    'Content-Disposition: name="_method"',
    'Content-Disposition: attachment; name="_method"',
    'Content-Disposition: inline; name="_method"',
    'Content-Disposition: x; name="_method"',
    'Content-Disposition : form-data; name="_method"',
    ' Content-Disposition: form-data; name="_method"',
    'Content-Type: text/plain; name="_method"',
    'Content-ID: _method',
    'Content-Disposition: form-data\nContent-ID: _method',
    'Content-Disposition: form-data; name="a"\nContent-Disposition: form-data; name="_method"',
    'Content-Disposition: form-data; name="_method"\nContent-Disposition: form-data; name="a"',
    'Content-Disposition: form-data; name="_method"\nContent-Transfer-Encoding: base64',
    `X: ${'y'.repeat(3_000)}\nContent-Disposition: form-data; name="_method"`,
  ])
/** A name in numbered pieces (RFC 2231), which Go joins by their numbers. */
const PIECES = [
  'name*1=thod; name*0=_me',
  'name*0=_me; name*1=thod',
  'name*0="_me"; name*1="thod"',
  'name*1="thod"; name*0="_me"',
  'name*2=od; name*0=_m; name*1=eth',
  "name*0*=utf-8''_me; name*1=thod",
  "name*0*=utf-8''%5Fme; name*1=thod",
  "name*0*=utf-8''_me; name*1*=%74hod",
  "name*1*=%74hod; name*0*=utf-8''_me",
  "name*0*=UTF-8'en'_me; name*1=thod",
  "name*0*=iso-8859-1''_me; name*1=thod",
  'name*0=_method',
  'name*0="_method"',
  "name*0*=utf-8''_method",
  'NAME*0=_me; NAME*1=thod',
  'name *0=_me; name *1=thod',
  'name*0 =_me; name*1 =thod',
  'name*0= _me; name*1= thod',
  'name*00=_me; name*01=thod',
  'name*1=_me; name*2=thod',
  'name*0=_me; name*2=thod',
  'name*0=_me; name*0=x; name*1=thod',
  'name*0=x; name*0=_me; name*1=thod',
  'name=a; name*0=_me; name*1=thod',
  'name*0=_me; name*1=thod; name=a',
  "name*0=_me; name*1=thod; name*=utf-8''a",
  'name*0="_m\\e"; name*1="th\\od"',
  'name*0=_me;\n name*1=thod',
  'name*0="_me;"; name*1=thod',
  'filename*0=x; name*0=_me; name*1=thod',
  'name*10=od; name*9=th; name*0=_me',
  `name*0=_; ${Array.from('method', (letter, i) => `name*${i + 1}=${letter}`).join('; ')}`,
].map(disposition)
const BOUNDARIES = [
  'multipart/form-data; boundary="b"',
  'multipart/form-data;boundary=b',
  'Multipart/Form-Data; BOUNDARY=b',
  "multipart/form-data; boundary='b'",
  'multipart/form-data, boundary=b',
  'multipart/form-data boundary=b',
  'multipart/form-data; boundary=x; boundary=b',
  'multipart/form-data; boundary=b; boundary=x',
  'multipart/form-data; boundary*=b',
  "multipart/form-data; boundary*=utf-8''b",
  'multipart/form-data',
  'multipart/form-data; boundary*0=b',
  'multipart/form-data; xboundary=b',
  'multipart/form-data; boundary= b',
  'multipart/mixed; boundary=b',
  'multipart/related; boundary=b',
  'multipart/x; boundary=b',
  'multipart/form-data; boundary="\\b"',
  'multipart/form-data; boundary=b,x',
  'multipart/form-data; boundary=b x',
  'application/json, multipart/form-data; boundary=b',
  'text/plain; multipart/form-data; boundary=b',
]
const BODIES = [
  `preamble\r\n${part(disposition('name="_method"'))}`,
  `\r\n${part(disposition('name="_method"'))}`,
  part(disposition('name="_method"')).replace('--b--\r\n', ''),
  part(disposition('name="_method"')).replace('--b\r\n', '--b \r\n'),
  part(disposition('name="_method"')).replace('--b\r\n', '--b\t\r\n'),
  part(disposition('name="_method"')).replace('\r\n\r\n', '\n\n'),
  part(disposition('name="_method"')).replace('\r\n\r\n', '\r\n\n'),
  part(disposition('name="_method"')).replace('\r\n\r\n', '\n\r\n'),
  part(disposition('name="_method"')).replace('\r\n\r\n', '\r\n \r\n'),
  part(`${disposition('name="_method"')}\nContent-Transfer-Encoding: quoted-printable`, '=44ELETE'),
  `${part(disposition('name="a"')).replace('--b--\r\n', '')}${part(disposition('name="_method"'))}`,
  `--b\r\n--b\r\n${disposition('name="_method"')}\r\n\r\nDELETE\r\n--b--`,
]
const JSON_BODIES = [
  '{"_method":"DELETE"}',
  '{"_method":"delete"}',
  '{"_METHOD":"DELETE"}',
  '{"\\u005fmethod":"DELETE"}',
  '{".method":"DELETE"}',
  '{" _method":"DELETE"}',
  '{"_method\\u0000":"DELETE"}',
  '{"method":"DELETE"}',
  '{"_method":["DELETE"]}',
  '{"_method":{"a":"DELETE"}}',
  '{"_method":"GET","_method":"DELETE"}',
  '{"a":NaN,"_method":"DELETE"}',
  "{'_method':'DELETE'}",
  '{_method:"DELETE"}',
  '{"_method":"DELETE",}',
  '{"_method":"DELETE"} x',
  '\xef\xbb\xbf{"_method":"DELETE"}',
  '[{"_method":"DELETE"}]',
  '{"a":{"_method":"DELETE"}}',
  '/* */{"_method":"DELETE"}',
  '{"_method"/* */:"DELETE"}',
  '{"_HttpMethod":"DELETE"}',
  '{"_method[]":"DELETE"}',
  Buffer.from('{"_method":"DELETE"}', 'utf16le').toString('latin1'),
  `\xff\xfe${Buffer.from('{"_method":"DELETE"}', 'utf16le').toString('latin1')}`,
  Buffer.from('{"_method":"DELETE"}', 'utf16le').swap16().toString('latin1'),
]
const JSON_TYPES: readonly (string | null)[] = [
  'application/json',
  'Application/JSON; charset=utf-8',
  'application/json; charset=utf-16',
  'text/json',
  'application/vnd.api+json',
  'application/json,text/plain',
  'application/json x',
  'text/plain',
  FORM,
  null,
  'application/x-json',
  'application/csp-report',
  'application/octet-stream',
  '',
]
const METHOD_HEADERS = [
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'X-Method',
  'X-Original-Method',
  'X_HTTP_Method_Override',
  'X.HTTP.Method.Override',
  'x-http-method-override',
  'X-HTTP_METHOD-Override',
  'HTTP-Method-Override',
  'X-HTTP-MethodOverride',
  'X-Tunneled-Method',
  '_method',
  'Method',
  'X-HTTP-Verb',
]
const ADDRESS_HEADERS = [
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-Original-URI',
  'X-Rewrite-URI',
  'X-Override-URL',
  'Request-Uri',
  'X-Original-Path',
  'X-HTTP-DestinationURL',
  'X-Script-Name',
  'Script-Name',
  'SCRIPT_NAME',
  'PATH_INFO',
  'X-Request-URI',
  'X-Path-Info',
  'Unencoded-Url',
  'UNENCODED_URL',
  'X-Proxy-URL',
  'Orig-Path-Info',
]

/** Thousands of spellings of the same few names, the same in every run. */
function randomShapes(count: number): OverrideShape[] {
  let state = 20_261_122
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % limit
  }
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const insertions = [
    '%00',
    '%20',
    '+',
    '.',
    '%2e',
    '-',
    '[',
    ']',
    '%5B',
    '\\',
    '%0a',
    '%09',
    '%C2%A0',
    '%EF%BB%BF',
  ]
  const spell = (): string => {
    const name = pick([
      '_method',
      '_method',
      '_method',
      '.method',
      '_METHOD',
      'X-HTTP-Method-Override',
    ])
    const letters = name.split('')
    const spelled = letters.map((letter) => {
      const way = below(12)
      if (way === 0) return `%${letter.charCodeAt(0).toString(16)}`
      return way === 1 ? letter.toUpperCase() : letter
    })
    for (let i = below(3); i > 0; i--)
      spelled.splice(
        pick([0, 0, 1, spelled.length, below(spelled.length + 1)]),
        0,
        pick(insertions),
      )
    return spelled.join('')
  }
  const around = (pair: string): string =>
    [...Array(below(3)).fill('a=1'), pair, ...Array(below(2)).fill('b')].join(
      pick(['&', '&', '&', ';', '&&']),
    )
  return Array.from({ length: count }, (_, i): OverrideShape => {
    const pair = `${spell()}=${pick(VALUES)}`
    switch (below(4)) {
      case 0:
        return query(`random ${i} query`, around(pair))
      case 1: {
        const line = pick(['\r\n', '\r\n', '\n', '\r'])
        const quote = pick(['"', '"', "'", ''])
        const body = part(disposition(`name=${quote}${spell()}${quote}`), 'DELETE', line)
        return form(
          `random ${i} multipart`,
          body,
          pick([MULTIPART, MULTIPART, pick(BOUNDARIES), null]),
        )
      }
      default:
        return form(`random ${i} form`, around(pair), pick([FORM, FORM, pick(TYPES)]))
    }
  })
}

/** Everything that is tried, in a fixed order: the record names shapes by their place in it. */
export function overrideShapes(): readonly OverrideShape[] {
  const twice = [
    [FORM, 'application/json'],
    ['application/json', FORM],
    [FORM, 'text/plain'],
    ['text/plain', FORM],
    [FORM, FORM],
  ] as const
  return [
    ...NAMES.flatMap((name) => [
      query(`query ${name}`, `${name}=DELETE`),
      form(`form ${name}`, `${name}=DELETE`),
      form(`form ${name} among others`, `a=1&${name}=delete&b=2`),
    ]),
    ...VALUES.flatMap((value) => [
      query(`query value ${value}`, `_method=${value}`),
      form(`form value ${value}`, `_method=${value}`),
      form(`method value ${value}`, `method=${value}`),
    ]),
    ...TYPES.flatMap((type) =>
      ['_method=DELETE', '.method=DELETE', part(disposition('name="_method"'))].map((body) =>
        form(`type ${type} ${body.slice(0, 8)}`, body, type),
      ),
    ),
    ...twice.map((types) =>
      shape(`two types ${types.join(' then ')}`, {
        headers: types.map((type) => ['Content-Type', type] as const),
        body: '_method=DELETE',
      }),
    ),
    ...SEPARATED.flatMap((text) => [
      form(`separated form ${text.slice(0, 40)}`, text),
      ...(/[\s\ufeff]/.test(text) || text.length > 4_000
        ? []
        : [query(`separated query ${text.slice(0, 40)}`, text)]),
    ]),
    ...HEADS.flatMap((head) =>
      ['\r\n', '\n', '\r'].map((end) =>
        form(
          `multipart ${JSON.stringify(end)} ${head.slice(0, 100)}`,
          part(head, 'DELETE', end),
          MULTIPART,
        ),
      ),
    ),
    ...PIECES.map((head) => form(`multipart pieces ${head}`, part(head), MULTIPART)),
    ...BOUNDARIES.map((type) =>
      form(`boundary ${type}`, part(disposition('name="_method"')), type),
    ),
    ...BODIES.map((body, i) => form(`multipart body ${i}`, body, MULTIPART)),
    ...JSON_BODIES.flatMap((body) =>
      JSON_TYPES.map((type) => form(`json ${type} ${body}`, body, type)),
    ),
    ...METHOD_HEADERS.flatMap((name) =>
      ['DELETE', 'delete', 'GET, DELETE', ' DELETE '].map((value) =>
        shape(`header ${name}: ${value}`, { headers: [[name, value]] }),
      ),
    ),
    ...ADDRESS_HEADERS.flatMap((name) =>
      ['/items/1/secret', '/secret', '/items', 'http://x/secret'].map((value) =>
        shape(`header ${name}: ${value}`, { headers: [[name, value]] }),
      ),
    ),
    ...['GET', 'PUT', 'DELETE'].flatMap((method) => [
      shape(`${method} query`, { method, target: `${SHAPE_PATH}?_method=PATCH` }),
      shape(`${method} form`, { method, headers: [['Content-Type', FORM]], body: '_method=PATCH' }),
      shape(`${method} header`, { method, headers: [['X-HTTP-Method-Override', 'PATCH']] }),
    ]),
    ...randomShapes(2_400),
  ]
}
