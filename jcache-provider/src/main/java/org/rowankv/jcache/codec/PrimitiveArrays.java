package org.rowankv.jcache.codec;

import java.lang.reflect.Array;

/** Format of arrays of primitives in keys: the element type's descriptor, then the elements. Stateless. */
final class PrimitiveArrays {
    private PrimitiveArrays() {}

    static void write(Object array, ByteSink out) {
        out.write(array.getClass().descriptorString().charAt(1));
        for (int i = 0; i < Array.getLength(array); i++) {
            final Object each = Array.get(array, i);
            if (each instanceof Integer number) {
                out.writeInt(number);
            } else if (each instanceof Long number) {
                out.writeLong(number);
            } else if (each instanceof Double number) {
                out.writeLong(Double.doubleToLongBits(number));
            } else if (each instanceof Float number) {
                out.writeInt(Float.floatToIntBits(number));
            } else if (each instanceof Short number) {
                out.writeShort(number);
            } else if (each instanceof Character c) {
                out.writeShort(c);
            } else if (each instanceof Boolean flag) {
                out.write(flag ? 1 : 0);
            } else {
                out.write((Byte) each);
            }
        }
    }

    static Object read(ByteSource in) {
        final char type = (char) in.readByte();
        final int width = switch (type) {
            case 'J', 'D' -> Long.BYTES;
            case 'I', 'F' -> Integer.BYTES;
            case 'S', 'C' -> Short.BYTES;
            case 'Z', 'B' -> Byte.BYTES;
            default -> throw new MalformedBytesException("a stored array is of the unknown type " + type);
        };
        if (in.remaining() % width != 0) {
            throw new MalformedBytesException("the last element of a stored array is cut off");
        }
        final Object array = Array.newInstance(componentOf(type), in.remaining() / width);
        for (int i = 0; i < Array.getLength(array); i++) {
            switch (type) {
                case 'J' -> Array.setLong(array, i, in.readLong());
                case 'D' -> Array.setDouble(array, i, Double.longBitsToDouble(in.readLong()));
                case 'I' -> Array.setInt(array, i, in.readInt());
                case 'F' -> Array.setFloat(array, i, Float.intBitsToFloat(in.readInt()));
                case 'S' -> Array.setShort(array, i, in.readShort());
                case 'C' -> Array.setChar(array, i, (char) in.readShort());
                case 'Z' -> Array.setBoolean(array, i, in.readByte() != 0);
                default -> Array.setByte(array, i, in.readByte());
            }
        }
        return array;
    }

    private static Class<?> componentOf(char type) {
        return switch (type) {
            case 'J' -> long.class;
            case 'D' -> double.class;
            case 'I' -> int.class;
            case 'F' -> float.class;
            case 'S' -> short.class;
            case 'C' -> char.class;
            case 'Z' -> boolean.class;
            default -> byte.class;
        };
    }
}
