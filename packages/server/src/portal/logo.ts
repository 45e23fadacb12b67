import { letterOn } from '../ops/color.ts'

/** Shapes behind the letters, on a 40 × 40 canvas, so that logos also differ for users who cannot tell their colours apart. */
const MOTIFS = [
  '<path d="M0 40V30C14 30 24 20 40 6v34z"/>',
  '<circle cx="34" cy="5" r="17"/>',
  '<path d="M0 40 40 0v40z"/>',
  '<path d="M0 28h10v-8h10v-8h10V4h10v36H0z"/>',
  '<circle cx="20" cy="44" r="22"/>',
  '<path d="M0 0h13v40H0z"/>'
] as const

/** A generated logo: letters on a coloured ground, with a shape between the two. */
export interface Mark {
  readonly letters: string
  readonly color: string
  readonly letterColor: string
  /** SVG. */
  readonly motif: string
}

/** @param seed determines the shape; the same seed always gives the same shape */
export function markOf(seed: string, letters: string, color: string): Mark {
  const sum = [...seed].reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0)
  return { letters, color, letterColor: letterOn(color), motif: MOTIFS[sum % MOTIFS.length] ?? '' }
}

/** The first letters (grapheme clusters) of the first two words. */
export function initialsOf(name: string): string {
  const words = name.split(/[^\p{L}\p{N}\p{Emoji_Presentation}\p{M}\u200d]+/u).filter(word => word !== '')
  const letters = words.slice(0, 2).map(word => {
    const { value: first } = new Intl.Segmenter().segment(word)[Symbol.iterator]().next()
    return first?.segment ?? ''
  })
  return letters.join('').toLocaleUpperCase('en')
}
