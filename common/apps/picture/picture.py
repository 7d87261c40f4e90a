"""picture.py - a picture and a named filter as inputs of a lab, and its output as a picture.

  picture.py prepare LAB PICTURE FILTER FOLDER   writes x.npy, w.npy and shape into FOLDER
  picture.py show FOLDER OUT.png             reads y.npy there: input, output and what is wrong
  picture.py filters                         their names, and what each does

PICTURE is a file that Pillow reads (PNG, PPM, JPEG, ...), or "" for the one that is drawn here.
Each colour is a channel, and each is filtered by itself: filter k has its taps in channel k, and
zeros in the others.  A lab computes a cross-correlation: no filter is flipped.  Lab 00 has no
neighbours: there a colour, from 0 to 255, is a pixel of its own, and there is no w.npy.
"""
import sys

import numpy as np
from PIL import Image, ImageDraw, UnidentifiedImageError

LARGEST = 512  # pixels a side: the simulated GPU takes a second for such a picture

BOX = np.full((5, 5), 1 / 25)
SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
BELL = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]) / 256

# name: the taps, what is added before it is shown (0.5: grey is zero), what it does
FILTERS = {
    'identity': (np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]]), 0,
                 'nothing: the picture comes out as it is'),
    'box': (BOX, 0, 'the mean of 5 x 5 pixels: blurs'),
    'gauss': (BELL, 0, 'a mean that favours the middle: blurs softly'),
    'sharpen': (np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]), 0,
                'each pixel against its neighbours'),
    'vertical': (SOBEL, 0.5, "Sobel's edges from left to right"),
    'horizontal': (SOBEL.T, 0.5, "Sobel's edges from top to bottom"),
    'edges': (np.array([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]]), 0.5, 'all edges'),
    'emboss': (np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]]), 0, 'light from the upper left'),
    'shift': (np.eye(1, 49, 48).reshape(7, 7), 0,
              'three pixels up and to the left: shows a filter that is flipped'),
}

# Lab 00's: gain, lift, what it does
LIGHTS = {
    'brighter': (1, 60, '60 of 255 steps lighter'),
    'contrast': (2, 0, 'twice as light'),
}


def fail(text):
    sys.exit('picture: ' + text)


def drawn():
    """Edges of every direction, fine and coarse, flat areas, corners: what filters differ in."""
    picture = Image.new('RGB', (256, 192), (222, 232, 240))
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 132, 255, 191), fill=(86, 134, 84))
    pen.ellipse((196, 14, 236, 54), fill=(246, 200, 76))
    pen.rectangle((28, 84, 116, 156), fill=(196, 106, 84))  # a building
    pen.polygon(((18, 84), (72, 40), (126, 84)), fill=(104, 62, 62))
    pen.rectangle((60, 116, 84, 156), fill=(70, 52, 48))
    for x in (36, 92):
        pen.rectangle((x, 96, x + 16, 110), fill=(240, 236, 200), outline=(60, 50, 50))
    for i in range(18):  # a fence, finer to the right
        x = 128 + i * i // 3 + 2 * i
        pen.rectangle((x, 140, x + max(1, 6 - i // 3), 164), fill=(238, 236, 228))
    for i in range(36):  # a star of rays
        angle = np.pi * i / 18
        far = (168 + 30 * np.cos(angle), 96 + 30 * np.sin(angle))
        pen.line(((168, 96), far), fill=(52, 70, 120), width=1 + i % 2)
    for i in range(8):  # a board
        for j in range(4):
            if (i + j) % 2:
                pen.rectangle((208 + 5 * i, 72 + 5 * j, 212 + 5 * i, 76 + 5 * j), fill=(30, 30, 40))
    return picture


def opened(path):
    if not path:
        return drawn()
    try:
        picture = Image.open(path).convert('RGB')
    except FileNotFoundError:
        fail(f'{path}: there is no such file')
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        fail(f'{path}: no picture that can be read ({error})')
    if max(picture.size) > LARGEST:
        picture.thumbnail((LARGEST, LARGEST))
    return picture


def weights_of(taps):
    weights = np.zeros((3, 3, *taps.shape), np.float32)
    for k in range(3):
        weights[k, k] = taps
    return weights


def prepare(lab, path, name, folder):
    offered = LIGHTS if int(lab[:2]) == 0 else FILTERS
    if name not in offered:
        fail(f"lab {lab} has no filter '{name}'; it has: {', '.join(offered)}")
    pixels = np.asarray(opened(path), np.float32).transpose(2, 0, 1)[None]
    h, w = pixels.shape[2:]
    if name in LIGHTS:
        shape = f'pixels={pixels.size} gain={LIGHTS[name][0]} lift={LIGHTS[name][1]}'
    else:
        pixels = pixels / 255
        r, s = FILTERS[name][0].shape
        shape = f'N=1 C=3 H={h} W={w} K=3 R={r} S={s} pad=same stride=1'
        np.save(f'{folder}/w.npy', weights_of(FILTERS[name][0]))
    np.save(f'{folder}/x.npy', np.ascontiguousarray(pixels))
    for file, text in (('shape', shape), ('filter', name)):
        with open(f'{folder}/{file}', 'w', encoding='ascii') as stream:
            stream.write(text)


def correlated(x, w):
    """The lab's expected output, in fp64: pad=same, the smaller half of an even filter first."""
    _, r, s = w.shape[1:]
    top, left = (r - 1) // 2, (s - 1) // 2
    padded = np.pad(x.astype(float), ((0, 0), (top, r - 1 - top), (left, s - 1 - left)))
    h, width = x.shape[1:]
    y = np.zeros((w.shape[0], h, width))
    for i in range(r):
        for j in range(s):
            seen = padded[:, i:i + h, j:j + width]
            y += np.einsum('kc,chw->khw', w[:, :, i, j].astype(float), seen)
    return y


def pixels_of(planes, plus):
    shown = np.clip(np.nan_to_num(planes, nan=0) + plus, 0, 1) * 255
    return Image.fromarray(shown.round().astype(np.uint8).transpose(1, 2, 0))


def result(folder):
    """Input, output and what it should be, from 0 (black) to 1, and what is added to show the last two."""
    x, y = (np.load(f'{folder}/{name}.npy') for name in 'xy')
    with open(f'{folder}/filter', encoding='ascii') as file:
        name = file.read()
    if name in LIGHTS:
        gain, lift, _ = LIGHTS[name]
        x = x[0].astype(float)
        return x / 255, y.reshape(x.shape) / 255, (gain * x + lift) / 255, 0
    return x[0], y[0], correlated(x[0], np.load(f'{folder}/w.npy')), FILTERS[name][1]


def show(folder, out):
    x, y, expected, plus = result(folder)
    # The error bound of fp32 is far below the resolution of a screen.
    wrong = ~(np.abs(y - expected) <= 1 / 512).all(axis=0)
    h, width = wrong.shape
    panels = [pixels_of(x, 0), pixels_of(y, plus)]
    if wrong.any():
        marked = np.asarray(pixels_of(y, plus)) // 3 + 150
        marked[wrong] = (200, 30, 30)
        panels.append(Image.fromarray(marked.astype(np.uint8)))
    sheet = Image.new('RGB', (len(panels) * (width + 8) - 8, h), 'white')
    for i, panel in enumerate(panels):
        sheet.paste(panel, (i * (width + 8), 0))
    sheet.save(out)
    also = f', and in red its {wrong.sum()} wrong pixels' if wrong.any() else ''
    print(f'  {out}:\n  the picture, your output{also}')


def main(words):
    if words[:1] == ['prepare'] and len(words) == 5:
        prepare(*words[1:])
    elif words[:1] == ['show'] and len(words) == 3:
        show(*words[1:])
    elif words == ['filters']:
        for name, (_, _, does) in (FILTERS | LIGHTS).items():
            print(f'  {name:<12}{does}')
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
