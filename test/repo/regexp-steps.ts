// A regular expression run step by step, so that its work is counted and not timed. What backtracks here backtracks in the engine.

type Matcher = (at: number, next: (at: number) => boolean) => boolean

/** How many steps the expression takes to find out whether it matches anywhere in the text. */
export function stepsOf(expression: RegExp, text: string, stepsMax: number): number {
  const run = new Run(expression, text, stepsMax)
  try {
    run.search()
  } catch (cause) {
    if (cause !== TOO_MANY) throw cause
  }
  return run.steps
}

const TOO_MANY = new Error('too many steps')

class Run {
  steps = 0
  readonly #expression: RegExp
  readonly #text: readonly string[]
  readonly #stepsMax: number
  readonly #source: string
  #at = 0

  constructor(expression: RegExp, text: string, stepsMax: number) {
    this.#expression = expression
    this.#text = [...text]
    this.#stepsMax = stepsMax
    this.#source = expression.source
  }

  search(): boolean {
    const matcher = this.#alternatives()
    if (this.#at < this.#source.length) throw new Error(`cannot read ${this.#source} at ${this.#at}`)
    const starts = this.#expression.sticky ? 1 : this.#text.length + 1
    for (let start = 0; start < starts; start++) if (matcher(start, () => true)) return true
    return false
  }

  #step(): void {
    if (++this.steps > this.#stepsMax) throw TOO_MANY
  }

  #alternatives(): Matcher {
    const options = [this.#sequence()]
    while (this.#take('|')) options.push(this.#sequence())
    return (at, next) => options.some(option => option(at, next))
  }

  #sequence(): Matcher {
    const parts: Matcher[] = []
    while (this.#at < this.#source.length && !this.#sees('|') && !this.#sees(')')) parts.push(this.#quantified())
    const from = (index: number): Matcher => {
      const part = parts[index]
      return part === undefined ? (at, next) => next(at) : (at, next) => part(at, reached => from(index + 1)(reached, next))
    }
    return from(0)
  }

  #quantified(): Matcher {
    const atom = this.#atom()
    const [text, one, from, comma, to] = /^(?:([*+?])|\{(\d+)(,)?(\d*)\})/.exec(this.#source.slice(this.#at)) ?? []
    if (text === undefined) return atom
    this.#at += text.length
    const isLazy = this.#take('?')
    const min = one === undefined ? Number(from) : one === '+' ? 1 : 0
    const max = one === '?' ? 1 : one !== undefined || (comma !== undefined && to === '') ? Number.POSITIVE_INFINITY : Number(to || from)
    const repeat = (count: number): Matcher => {
      return (at, next) => {
        const more = () => count < max && atom(at, reached => (reached > at || count < min) && repeat(count + 1)(reached, next))
        if (count < min) return more()
        return isLazy ? next(at) || more() : more() || next(at)
      }
    }
    return repeat(0)
  }

  #atom(): Matcher {
    const around = /^\(\?(<?)([=!])/.exec(this.#source.slice(this.#at))
    if (around !== null) return this.#around(around[0], around[1] === '<', around[2] === '!')
    const group = /^\((?:\?:|\?<[A-Za-z]\w*>)?/.exec(this.#source.slice(this.#at))
    if (group !== null) {
      this.#at += group[0].length
      const inner = this.#alternatives()
      this.#expect(')')
      return inner
    }
    if (this.#take('^')) return (at, next) => this.#isStart(at) && next(at)
    if (this.#take('$')) return (at, next) => this.#isEnd(at) && next(at)
    const edge = /^\\[bB]/.exec(this.#source.slice(this.#at))
    if (edge !== null) {
      this.#at += 2
      return (at, next) => this.#isEdge(at) === (edge[0] === '\\b') && next(at)
    }
    return this.#character()
  }

  #around(opening: string, isBehind: boolean, isNegated: boolean): Matcher {
    this.#at += opening.length
    const from = this.#at
    const inner = this.#alternatives()
    // The engine reads backwards from where it is, and so never further than what can stand there.
    const reach = reachOf(this.#source.slice(from, this.#at))
    this.#expect(')')
    return (at, next) => {
      let holds = false
      const starts = isBehind ? Array.from({ length: Math.min(at, reach) + 1 }, (_, index) => at - index) : [at]
      for (const start of starts) holds ||= inner(start, reached => !isBehind || reached === at)
      return holds !== isNegated && next(at)
    }
  }

  /** A character, a class or an escape: whether it takes a character is asked of the engine, once for each. */
  #character(): Matcher {
    const [text = ''] = CHARACTER.exec(this.#source.slice(this.#at)) ?? []
    if (text === '' || /^\\[1-9k]/.test(text)) throw new Error(`cannot read ${this.#source} at ${this.#at}`)
    this.#at += text.length
    const one = new RegExp(`^${text}$`, this.#expression.flags.replace(/[gy]/g, ''))
    const known = new Map<string, boolean>()
    return (at, next) => {
      this.#step()
      const character = this.#text[at]
      if (character === undefined) return false
      const takes = known.get(character) ?? one.test(character)
      known.set(character, takes)
      return takes && next(at + 1)
    }
  }

  #isStart(at: number): boolean {
    this.#step()
    return at === 0 || (this.#expression.multiline && this.#text[at - 1] === '\n')
  }

  #isEnd(at: number): boolean {
    this.#step()
    return at === this.#text.length || (this.#expression.multiline && this.#text[at] === '\n')
  }

  #isEdge(at: number): boolean {
    this.#step()
    return /\w/.test(this.#text[at - 1] ?? '') !== /\w/.test(this.#text[at] ?? '')
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at)
  }

  #take(text: string): boolean {
    if (!this.#sees(text)) return false
    this.#at += text.length
    return true
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw new Error(`cannot read ${this.#source} at ${this.#at}: ${text} is missing`)
  }
}

/** At least as many characters as the source can take. */
function reachOf(source: string): number {
  if (/[*+]|,\}/.test(source.replace(/\[(?:\\.|[^\]\\])*\]/g, '.'))) return Number.POSITIVE_INFINITY
  return [...source.matchAll(/\d+/g)].reduce((sum, [digits]) => sum + Number(digits), source.replace(/\[(?:\\.|[^\]\\])*\]/g, '.').length)
}

/** `[…]`, an escape of any length, or one character. */
export const CHARACTER =
  /^(?:\[(?:\\.|[^\]\\])*\]|\\(?:u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[pP]\{[^}]*\}|c[A-Za-z]|.)|[\s\S])/u
