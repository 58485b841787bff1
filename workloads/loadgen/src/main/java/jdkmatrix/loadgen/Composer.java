package jdkmatrix.loadgen;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.SplittableRandom;

/**
 * Composes the requests of one event loop, each in the buffer of its connection and without allocating. Used by that
 * event loop only.
 *
 * <p>A request with fields of kind "unique" gets the next of this loop's numbers (INDEX, INDEX + LOOPS,
 * INDEX + 2 LOOPS, …) in all of these fields.
 */
final class Composer {
    private final RequestMix mix;
    private final Template[] templates;
    private final long[] cumulativeWeights;
    private final SplittableRandom random;
    private final int step;
    private long nextUnique;

    Composer(RequestMix mix, int index, int loops) {
        this.mix = mix;
        templates = mix.templates().toArray(Template[]::new);
        cumulativeWeights = new long[templates.length];
        long sum = 0;
        for (int i = 0; i < templates.length; i++) {
            sum += templates[i].weight();
            cumulativeWeights[i] = sum;
        }
        SplittableRandom seeds = new SplittableRandom(mix.seed());
        for (int i = 0; i < index; i++) {
            seeds.split();
        }
        random = seeds.split();
        step = loops;
        nextUnique = index;
    }

    /** Creates a buffer for one connection, which survives being written. */
    ByteBuf newBuffer() {
        return Unpooled.unreleasableBuffer(Unpooled.directBuffer(mix.longest(), mix.longest()));
    }

    /** Puts the next request into the connection's buffer; returns false if its unique numbers are used up. */
    boolean compose(Connection connection) {
        Template template = templates.length == 1 ? templates[0] : choose();
        ByteBuf buffer = connection.request;
        if (connection.template != template) {
            buffer.setBytes(0, template.bytes());
            connection.template = template;
        }
        buffer.setIndex(0, template.length());
        return template.fields().isEmpty() || fill(template, buffer);
    }

    /** Returns the reason why there is no next request. */
    String exhausted() {
        return "the numbers of a {unique:…} field are used up: the next is %d; make it wider".formatted(nextUnique);
    }

    private Template choose() {
        long draw = random.nextLong(cumulativeWeights[cumulativeWeights.length - 1]);
        int i = 0;
        while (draw >= cumulativeWeights[i]) {
            i++;
        }
        return templates[i];
    }

    private boolean fill(Template template, ByteBuf buffer) {
        long unique = nextUnique;
        if (template.lastUnique() >= 0) {
            if (unique > template.lastUnique()) {
                return false;
            }
            nextUnique += step;
        }
        for (int i = 0; i < template.fields().size(); i++) {
            Template.Field field = template.fields().get(i);
            long value = field.unique() ? unique : random.nextLong(field.lowest(), field.highest() + 1);
            for (int at = field.offset() + field.width() - 1; at >= field.offset(); at--) {
                buffer.setByte(at, '0' + (int) (value % 10));
                value /= 10;
            }
        }
        return true;
    }
}
