"""The program without window, models and tools: values, stores, readers, retrieval, runtime, workflows."""
