/** Pictures in the terminal: two pixels a character, the upper as its colour, the lower as its background. */

export interface Picture {
  readonly width: number
  readonly height: number
  /** Three bytes a pixel, rows from the top. */
  readonly rgb: Uint8Array
}

/** From dark to light, for terminals without colour. */
const RAMP = ' .:-=+*#%@'

/** The picture as text: `height / 2` lines of `width` characters. */
export function draw(picture: Picture, colours: 'none' | '256' | 'true'): string {
  let text = ''
  for (let y = 0; y < picture.height; y += 2) {
    let last = ''
    for (let x = 0; x < picture.width; x++) {
      const top = pixel(picture, x, y)
      const bottom = pixel(picture, x, Math.min(y + 1, picture.height - 1))
      if (colours === 'none') {
        text += RAMP[Math.round(((light(top) + light(bottom)) / 2) * (RAMP.length - 1))]
        continue
      }
      const colour = `\x1b[38;${code(top, colours)};48;${code(bottom, colours)}m`
      text += colour === last ? '▀' : `${colour}▀`
      last = colour
    }
    text += colours === 'none' ? '\n' : '\x1b[0m\n'
  }
  return text
}

type Rgb = readonly [red: number, green: number, blue: number]

function pixel({ width, rgb }: Picture, x: number, y: number): Rgb {
  const at = (y * width + x) * 3
  return [rgb[at]!, rgb[at + 1]!, rgb[at + 2]!]
}

/** Brightness from 0 to 1 (ITU-R BT.709). */
const light = ([red, green, blue]: Rgb): number => (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255

/** SGR parameters of a colour: 24 bits, or the nearest of the 6×6×6 cube of the 256 colours. */
function code(colour: Rgb, colours: '256' | 'true'): string {
  if (colours === 'true') return `2;${colour.join(';')}`
  const [red, green, blue] = colour.map((c) => (c < 48 ? 0 : c < 115 ? 1 : Math.floor((c - 35) / 40)))
  return `5;${16 + 36 * red! + 6 * green! + blue!}`
}
