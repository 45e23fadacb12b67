// No text makes a regular expression work for long: the steps of each are counted over texts built against it, at one length and at twice
// that.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fastify } from 'fastify'
import { KnownRoutes } from '../../packages/server/src/http/routing.ts'
import { SecretCutter } from '../../packages/server/src/ops/redact.ts'
import { CHARACTER, stepsOf } from './regexp-steps.ts'
import { regexpsIn } from './regexps.ts'

const SOURCES = globSync('packages/{core,brokers,server}/src/**/*.{ts,js}')
const LENGTH = 64
/** Twice the length is twice the work, and not four times. */
const GROWTH_MAX = 2.6
/** Below that nothing is looked at: a bounded expression may try all it has. */
const STEPS_MIN = 40 * LENGTH
const STEPS_MAX = 400 * LENGTH

/** Those whose work grows faster, and why that does no harm. */
const BOUNDED: ReadonlyMap<string, string> = new Map([
  [
    String.raw`/'(?:[^']|'')*'|"[^"]*"|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|;|[^'"$;/-]+|[\s\S]/g`,
    'our own migrations'
  ],
  ['/0+$/', 'decimals that were read as such, and are no longer than one may be'],
  [String.raw`/\.?0+$/`, 'decimals that were read as such'],
  [String.raw`/\B(?=(?:\d{3})+$)/g`, 'figures of the live page'],
  [String.raw`/\s*\n\s*/g`, 'our own guides'],
  [String.raw`/(\d+)\.(\d+)\.(\d+)\.(\d+)$/`, 'text that isIPv6 has taken'],
  [String.raw`/(?<=:\/\/[^\s:/@]{0,256}:)[^\s/]+(?=@)/g`, 'log lines, cut at 8,000 characters before']
])

/** Texts that repeat what the expression itself contains, behind a beginning and before an end that it does not expect. */
function* hostileTexts(expression: RegExp, length: number): Generator<string> {
  const parts = [...new Set(expression.source.match(new RegExp(CHARACTER.source.slice(1), 'gu')) ?? [])]
  const takenBy = (part: string) => {
    const one = oneOf(part, expression.flags)
    return one === null ? undefined : CANDIDATES.find(character => one.test(character))
  }
  const characters = [...new Set(['a', '0', ' ', ...parts.flatMap(part => takenBy(part) ?? [])])].slice(0, 5)
  const fillers = characters.flatMap(first => [first, ...characters.filter(second => second !== first).map(second => first + second)])
  for (const filler of fillers)
    for (const start of ['', ...characters])
      for (const end of ['\u0000', '']) yield `${start}${filler.repeat(length / filler.length)}${end}`
}

const CANDIDATES = Array.from({ length: 0x17f }, (_, code) => String.fromCharCode(code)).sort(
  (a, b) => Number(/\w/.test(b)) - Number(/\w/.test(a))
)

/** Null where the part is no character but a sign, such as a bracket. */
function oneOf(part: string, flags: string): RegExp | null {
  try {
    return new RegExp(`^(?:${part})$`, flags.replace(/[gy]/g, ''))
  } catch {
    return null
  }
}

/** The text whose work grows fastest, and how fast; null where all of them grow no faster than they may. */
function worstOf(expression: RegExp): string | null {
  const longer = hostileTexts(expression, 2 * LENGTH)
  for (const text of hostileTexts(expression, LENGTH)) {
    const twice = longer.next().value ?? ''
    const steps = stepsOf(expression, twice, STEPS_MAX)
    if (steps < STEPS_MIN) continue
    const growth = steps / stepsOf(expression, text, STEPS_MAX)
    if (steps >= STEPS_MAX || growth > GROWTH_MAX)
      return `${JSON.stringify(text.slice(0, 12))}…: ${steps} steps, ${growth.toFixed(1)} times`
  }
  return null
}

test('the count distinguishes a quadratic and an exponential expression from a linear one', () => {
  for (const linear of [/^[a-z]+$/, /^(?:[a-z]+,)*$/, /a{1,8}$/, /\d+/, /^(?<name>\w+)=([^;]*)/])
    assert.equal(worstOf(linear), null, String(linear))
  for (const dear of [/a+$/, /^(a+)+$/, /^(?:a|a)*$/, /\s*,/, /^.*a.*b$/, /(?<=a+)b/]) assert.notEqual(worstOf(dear), null, String(dear))
})

test('expressions are found where they stand, and divisions and texts are none', () => {
  const source = `const a = b / c / d; // /no/\nf(/yes[/]/g, 'x/no/y') ? \`/no/\${g(/yes2/u)}/no/\` : h.match(/yes3/)\nif (a) return /yes4/`
  assert.deepEqual(regexpsIn(source).map(String), ['/yes[/]/g', '/yes2/u', '/yes3/', '/yes4/'])
})

/**
 * The engine reads a condition on what lies before backwards, and the count does not. These are for log lines, cut at 8,000 characters
 * before.
 */
const isOfLogLines = (file: string, { source }: RegExp) => file === 'packages/server/src/ops/redact.ts' && source.startsWith('(?<=')

/** Of a file that makes expressions when it is used: uses it. The others make theirs when they are loaded. */
const USES: ReadonlyMap<string, () => unknown> = new Map<string, () => unknown>([
  ['packages/server/src/ops/redact.ts', () => new SecretCutter(['canary-canary-0', 'another(canary|+*', 'a'.repeat(40)])],
  [
    'packages/server/src/http/routing.ts',
    () => {
      const app = fastify()
      new KnownRoutes().watch(app)
      for (const url of ['/orders/:order_id/fills', '/docs/*', '/a.b']) app.get(url, async () => null)
    }
  ]
])

/** Expressions that are made of parts, by the file and line that make them: as they are once the files were loaded and used. */
async function expressionsMadeIn(files: readonly string[]): Promise<ReadonlyMap<string, readonly RegExp[]>> {
  const made = new Map<string, RegExp[]>()
  const real = globalThis.RegExp
  globalThis.RegExp = new Proxy(real, {
    construct(target, parts, newTarget) {
      const expression: RegExp = Reflect.construct(target, parts, newTarget)
      const [, file, line] = /\/(packages\/[^\s:?]+\/src\/[^\s:?]+)(?:\?counted)?:(\d+)/.exec(new Error().stack ?? '') ?? []
      const place = `${file}:${line}`
      made.set(place, [...(made.get(place) ?? []), expression])
      return expression
    }
  })
  try {
    // Another address than that under which it may have been loaded already.
    for (const file of files) await import(`../../${file}?counted`)
    for (const file of files) USES.get(file)?.()
  } finally {
    globalThis.RegExp = real
  }
  return made
}

test('expressions that are made of parts are linear too, each of them [S68]', async () => {
  const places = SOURCES.flatMap(file =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) => (/\bRegExp\(/.test(line) ? [{ file, place: `${file}:${index + 1}` }] : []))
  )
  assert.ok(places.length >= 5)
  const made = await expressionsMadeIn([...new Set(places.map(({ file }) => file))])
  for (const { file, place } of places) {
    const expressions = made.get(place)
    assert.ok(
      expressions !== undefined,
      `${place} makes an expression that was not counted: make it when the file is loaded, or add its use to USES`
    )
    for (const expression of expressions)
      if (!isOfLogLines(file, expression)) assert.equal(worstOf(expression), null, `${place}: ${expression}`)
  }
})

test('no text takes any expression of the program more than linear work [S68]', () => {
  const files = SOURCES
  assert.ok(files.length > 300)
  const expressions = new Map<string, { readonly expression: RegExp; readonly file: string }>()
  for (const file of files)
    for (const expression of regexpsIn(readFileSync(file, 'utf8'))) expressions.set(String(expression), { expression, file })
  assert.ok(expressions.size > 80, `${expressions.size} were found`)
  const dear = [...expressions].flatMap(([source, { expression, file }]) => {
    const worst = BOUNDED.has(source) ? null : worstOf(expression)
    return worst === null ? [] : [`${file}: ${source} ${worst}`]
  })
  assert.deepEqual(dear, [])
  assert.deepEqual(
    [...BOUNDED.keys()].filter(source => !expressions.has(source)),
    [],
    'exceptions that nothing needs'
  )
})
