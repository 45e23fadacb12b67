import type { Platform, PlatformBrand } from '@trunkline/core/domain/account'
import { letterOn, standingOut } from '../ops/color.ts'
import { initialsOf, type Mark, markOf } from './logo.ts'

/** A platform's application as the portal's pages show it. */
export interface AppView {
  readonly name: string
  readonly mark: Mark
  /** Path of the stylesheet with its colour; null for the portal's default. */
  readonly stylesheet: string | null
  /** Where the user can return to when there is no redirect; null if unknown. */
  readonly url: string | null
}

/** The portal's default colour. */
const COLOR = '#0b5cad'
/** Background colours of the two colour schemes: `--card` in `portal.css`. */
const GROUNDS = { light: '#ffffff', dark: '#1a212a' } as const
/** Contrast that WCAG 2 requires of controls (success criterion 1.4.11). */
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

/** The origin of the first registered redirect is taken as the application's. */
function originOf(redirect: string | undefined): string | null {
  return redirect === undefined ? null : new URL(redirect).origin
}

/**
 * The stylesheet for a platform's colour, from its file name. It sets the main button's colour, which is shifted towards black or white
 * until it contrasts with the page, and a readable text colour on it. Null if the name is not a colour.
 */
export function colorStylesheet(name: string): string | null {
  if (!STYLESHEET.test(name)) return null
  const [light, dark] = [GROUNDS.light, GROUNDS.dark].map(ground => standingOut(`#${name}`, ground, RATIO_MIN))
  if (light === undefined || dark === undefined) return null
  const pair = (one: string, other: string) => `light-dark(${one}, ${other})`
  return `:root {\n  --accent: ${pair(light, dark)};\n  --on-accent: ${pair(letterOn(light), letterOn(dark))};\n}\n`
}
