package io.regatta.node.admin;

import java.util.function.DoubleSupplier;

/**
 * A counter of a part of a service, which the service registers among its own with its tags. Immutable.
 *
 * @param name of the metric
 * @param description with the unit
 * @param value returns the count; any thread
 */
public record CounterSource(String name, String description, DoubleSupplier value) {}
