/** Colours as `#rrggbb`, and their contrast: WCAG 2's relative luminance and contrast ratio. */

import { Malformed } from '@trunkline/core/domain/malformed'

/** `#rrggbb` in lower case, of that or of `#rgb`. @throws Malformed */
export function parseColor(value: unknown): string {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : ''
  if (/^#[0-9a-f]{6}$/.test(text)) return text
  if (/^#[0-9a-f]{3}$/.test(text)) return text.replace(/[0-9a-f]/g, digit => digit + digit)
  throw new Malformed('color', 'a colour such as #0b5cad', value)
}

/** Black or white, whichever has more contrast with `color`: at least 4.58 to 1 for any colour. */
export function letterOn(color: string): string {
  return contrast(color, '#000000') > contrast(color, '#ffffff') ? '#000000' : '#ffffff'
}

/** From 1 (the same colour) to 21 (black on white). */
export function contrast(one: string, other: string): number {
  const [darker = 0, brighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (brighter + 0.05) / (darker + 0.05)
}

/** `color`, or the nearest colour towards black or white whose contrast with `ground` is at least `ratio` to 1. */
export function standingOut(color: string, ground: string, ratio: number): string {
  const end = letterOn(ground)
  for (let percent = 0; percent < 100; percent += 2) {
    const mixed = mix(color, end, percent / 100)
    if (contrast(mixed, ground) >= ratio) return mixed
  }
  return end
}

function mix(color: string, end: string, share: number): string {
  const [from, to] = [channels(color), channels(end)]
  const mixed = from.map((channel, at) => Math.round(channel + ((to[at] ?? 0) - channel) * share))
  return `#${mixed.map(channel => channel.toString(16).padStart(2, '0')).join('')}`
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map(channel => linear(channel / 255))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function channels(color: string): readonly number[] {
  return [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16))
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
}
