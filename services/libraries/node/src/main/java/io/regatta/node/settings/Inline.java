package io.regatta.node.settings;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A record whose keys stand beside those of the record that holds it, instead of in a section of their own. Several
 * such records may have the same key, of the same type. A value that is given is that of all of them. If none is given,
 * each has its own default.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Inline {}
