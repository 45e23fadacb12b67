// Cuts a source text into its pieces: code, comments, strings, the text of templates, regular expressions.

export type PieceKind = 'code' | 'comment' | 'string' | 'template' | 'regexp'

export interface Piece {
  readonly kind: PieceKind
  readonly text: string
  /** Where it begins in the source. */
  readonly start: number
}

const KEYWORDS_BEFORE: ReadonlySet<string> = new Set(['return', 'typeof', 'case', 'in', 'of', 'void', 'await', 'yield'])
const CODE = /[^/'"`{}]+/y
const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//y
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y
const TEMPLATE = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])+/y
const REGEXP = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y

/** The pieces of a source, in order; their texts make up the source. Code inside the braces of a template is code. */
export function piecesOf(source: string): readonly Piece[] {
  const pieces: Piece[] = []
  /** Of each brace that is open: whether a template goes on behind it. */
  const braces: boolean[] = []
  /** The last piece that is no comment and no blank: decides what a slash means. */
  let before = ''
  let at = 0
  const take = (kind: PieceKind, pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const text = pattern.exec(source)?.[0]
    if (text === undefined) return false
    add(kind, text)
    return true
  }
  const add = (kind: PieceKind, text: string) => {
    pieces.push({ kind, text, start: at })
    at += text.length
    if (kind !== 'comment' && text.trim() !== '') before = kind === 'code' ? text : "'"
  }
  const template = () => {
    while (at < source.length) {
      if (take('template', TEMPLATE)) continue
      if (source[at] === '`') return add('code', '`')
      braces.push(true)
      return add('code', '${')
    }
  }
  while (at < source.length) {
    const character = source[at]
    if (take('code', CODE) || take('comment', COMMENT) || take('string', STRING)) continue
    if (character === '/' && isOperand(before) && take('regexp', REGEXP)) continue
    if (character === '{') braces.push(false)
    add('code', character ?? '')
    if (character === '`' || (character === '}' && braces.pop() === true)) template()
  }
  return pieces
}

/** Whether an operand comes next, and no division. */
function isOperand(before: string): boolean {
  const text = before.trimEnd()
  const word = /[\w$]+$/.exec(text.slice(-20))?.[0]
  return text === '' || (word !== undefined && KEYWORDS_BEFORE.has(word)) || /[(,=:[!&|?{};>+~<*%^-]$/.test(text)
}
