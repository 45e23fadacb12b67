/**
 * An answer as Tradier makes it: JSON that was converted from XML. A list of one is its only item, an empty list is the text `null`.
 */

/** A number exactly as it is to be written, zeros at its end included. */
export class Figure {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Tree = string | number | boolean | null | Figure | readonly Tree[] | Branch

export interface Branch {
  readonly [name: string]: Tree | undefined
}

const PLACES = 8

/** Quantities and prices of orders and positions: eight places at least. */
export function figure(text: string | null, places = PLACES): Figure {
  const [whole = '0', fraction = ''] = (text ?? '0').split('.')
  return new Figure(places === 0 && fraction === '' ? whole : `${whole}.${fraction.padEnd(Math.max(1, places), '0')}`)
}

/** A number without zeros at its end, or null. */
export function plain(text: string | null | undefined): Figure | null {
  return text === null || text === undefined ? null : new Figure(text.includes('.') ? text.replace(/\.?0+$/, '') : text)
}

/** `{root: {name: […]}}`; an empty one is `{root: "null"}`. */
export function listed(root: string, name: string, items: readonly Tree[]): Branch {
  return { [root]: items.length === 0 ? 'null' : { [name]: items } }
}

export function json(tree: Tree): string {
  if (tree instanceof Figure) return tree.text
  if (isList(tree)) return tree.length === 1 ? json(tree[0] ?? null) : tree.length === 0 ? 'null' : `[${tree.map(json).join(',')}]`
  if (typeof tree !== 'object' || tree === null) return JSON.stringify(tree)
  return `{${branches(tree)
    .map(([name, value]) => `${JSON.stringify(name)}:${json(value)}`)
    .join(',')}}`
}

function branches(tree: Branch): readonly (readonly [string, Tree])[] {
  return Object.entries(tree).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree)
}
