// Typed buffer operations: the formats are in the instruction.
import { loadFormatted, storeFormatted } from '../format';

export function tbuffer_load_format_x(u: usize, w: usize): void { loadFormatted(u, w, 1, true, false); }
export function tbuffer_store_format_x(u: usize, w: usize): void { storeFormatted(u, w, 1, true, false); }
export function tbuffer_load_format_xy(u: usize, w: usize): void { loadFormatted(u, w, 2, true, false); }
export function tbuffer_store_format_xy(u: usize, w: usize): void { storeFormatted(u, w, 2, true, false); }
export function tbuffer_load_format_xyz(u: usize, w: usize): void { loadFormatted(u, w, 3, true, false); }
export function tbuffer_store_format_xyz(u: usize, w: usize): void { storeFormatted(u, w, 3, true, false); }
export function tbuffer_load_format_xyzw(u: usize, w: usize): void { loadFormatted(u, w, 4, true, false); }
export function tbuffer_store_format_xyzw(u: usize, w: usize): void { storeFormatted(u, w, 4, true, false); }
export function tbuffer_load_format_d16_x(u: usize, w: usize): void { loadFormatted(u, w, 1, true, true); }
export function tbuffer_store_format_d16_x(u: usize, w: usize): void { storeFormatted(u, w, 1, true, true); }
export function tbuffer_load_format_d16_xy(u: usize, w: usize): void { loadFormatted(u, w, 2, true, true); }
export function tbuffer_store_format_d16_xy(u: usize, w: usize): void { storeFormatted(u, w, 2, true, true); }
export function tbuffer_load_format_d16_xyz(u: usize, w: usize): void { loadFormatted(u, w, 3, true, true); }
export function tbuffer_store_format_d16_xyz(u: usize, w: usize): void { storeFormatted(u, w, 3, true, true); }
export function tbuffer_load_format_d16_xyzw(u: usize, w: usize): void { loadFormatted(u, w, 4, true, true); }
export function tbuffer_store_format_d16_xyzw(u: usize, w: usize): void { storeFormatted(u, w, 4, true, true); }
