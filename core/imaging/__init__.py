"""Pictures and DICOM: headers, pixels, phantoms; knows no store."""
