const DARK = '#17202b'
const LIGHT = '#ffffff'
/** Relative luminance above which black letters stand out more than white ones. */
const PALE = 0.179

/** A broker's name as one letter on its colour (`#rrggbb`), dark on a pale one. */
export function logoLetter(name: string, logoColor: string): { readonly letter: string; readonly letterColor: string } {
  const { value: first } = new Intl.Segmenter().segment(name)[Symbol.iterator]().next()
  return { letter: first?.segment ?? '', letterColor: luminance(logoColor) > PALE ? DARK : LIGHT }
}

/** As WCAG defines it, 0 to 1. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(at => linear(Number.parseInt(color.slice(at, at + 2), 16) / 255))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
}
