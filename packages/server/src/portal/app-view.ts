import type { Platform, PlatformBrand } from '@trunkline/core/domain/account'
import { letterOn, standingOut } from '../ops/color.ts'
import { initialsOf, type Mark, markOf } from './logo.ts'

/** The platform as its users see it on our pages. */
export interface AppView {
  readonly name: string
  readonly mark: Mark
  /** Of the stylesheet with its colour; null: the portal's own. */
  readonly stylesheet: string | null
  /** A way back when a link leads nowhere else; null: none is known. */
  readonly url: string | null
}

/** The portal's own. */
const COLOR = '#0b5cad'
/** Grounds of the page's two schemes: `--card` of `portal.css`. */
const GROUNDS = { light: '#ffffff', dark: '#1a212a' } as const
/** What WCAG asks of the parts of a page that one presses. */
const RATIO_MIN = 3
const STYLESHEET = /^[0-9a-f]{6}$/

export function appView({ platformId, name, redirectAllowList }: Platform, { color, appUrl }: PlatformBrand): AppView {
  return {
    name,
    mark: markOf(platformId, initialsOf(name), color ?? COLOR),
    stylesheet: color === null ? null : `/connect/assets/color/${color.slice(1)}.css`,
    url: appUrl ?? originOf(redirectAllowList[0])
  }
}

/** Where a platform has registered its users' way back, it is at home. */
function originOf(redirect: string | undefined): string | null {
  return redirect === undefined ? null : new URL(redirect).origin
}

/**
 * The stylesheet for a colour: that of the main button, which is moved towards black or white until it stands out from the page, and of what is
 * written on it, which can be read on every colour. Null: the name names no colour.
 */
export function colorStylesheet(name: string): string | null {
  if (!STYLESHEET.test(name)) return null
  const [light, dark] = [GROUNDS.light, GROUNDS.dark].map(ground => standingOut(`#${name}`, ground, RATIO_MIN))
  if (light === undefined || dark === undefined) return null
  const pair = (one: string, other: string) => `light-dark(${one}, ${other})`
  return `:root {\n  --accent: ${pair(light, dark)};\n  --on-accent: ${pair(letterOn(light), letterOn(dark))};\n}\n`
}
