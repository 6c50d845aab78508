//! The cars of the demo dealerships. The VINs of every entry must decode in NHTSA's vPIC to its make, model and years;
//! `scripts/interop/vins.py` checks that.

/// One kind of car over several model years.
pub(super) struct CatalogueEntry {
    pub(super) vin: VinSpec,
    pub(super) car: CarSpec,
    pub(super) powertrain: Powertrain,
    /// List price of the last year, in whole dollars.
    pub(super) msrp: i64,
}

/// The parts of its VINs: positions 1 to 8, position 11, and the first and last year of position 10.
#[derive(Clone, Copy)]
pub(super) struct VinSpec(pub(super) &'static str, pub(super) char, pub(super) u16, pub(super) u16);

/// Make, model, trim, body style, doors.
#[derive(Clone, Copy)]
pub(super) struct CarSpec(
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) u8,
);

/// Engine, transmission, drivetrain, fuel.
#[derive(Clone, Copy)]
pub(super) struct Powertrain(
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
);

const fn entry(vin: VinSpec, car: CarSpec, powertrain: Powertrain, msrp: i64) -> CatalogueEntry {
    CatalogueEntry { vin, car, powertrain, msrp }
}

#[rustfmt::skip]
pub(super) const CATALOGUE: &[CatalogueEntry] = &[
    entry(VinSpec("2T3P1RFV", 'C', 2019, 2024), CarSpec("Toyota", "RAV4", "XLE", "crossover", 4), Powertrain("2.5L I4", "automatic", "awd", "gasoline"), 31_900),
    entry(VinSpec("1FTEW1EP", 'F', 2018, 2024), CarSpec("Ford", "F-150", "XLT", "pickup", 4), Powertrain("2.7L V6 turbo", "automatic", "four_wd", "gasoline"), 51_400),
    entry(VinSpec("1HGCV1F3", 'A', 2018, 2022), CarSpec("Honda", "Accord", "Sport", "sedan", 4), Powertrain("1.5L I4 turbo", "cvt", "fwd", "gasoline"), 29_100),
    entry(VinSpec("5YJ3E1EA", 'F', 2019, 2022), CarSpec("Tesla", "Model 3", "Standard Range Plus", "sedan", 4), Powertrain("Single electric motor", "direct_drive", "rwd", "electric"), 44_900),
    entry(VinSpec("1C4RJFBG", 'C', 2016, 2021), CarSpec("Jeep", "Grand Cherokee", "Limited", "suv", 4), Powertrain("3.6L V6", "automatic", "four_wd", "gasoline"), 43_700),
    entry(VinSpec("1GCUDDED", 'Z', 2022, 2024), CarSpec("Chevrolet", "Silverado 1500", "LT", "pickup", 4), Powertrain("5.3L V8", "automatic", "four_wd", "gasoline"), 54_200),
    entry(VinSpec("2HKRW2H8", 'H', 2017, 2022), CarSpec("Honda", "CR-V", "EX-L", "crossover", 4), Powertrain("1.5L I4 turbo", "cvt", "awd", "gasoline"), 33_600),
    entry(VinSpec("4T1C11AK", 'U', 2020, 2024), CarSpec("Toyota", "Camry", "LE", "sedan", 4), Powertrain("2.5L I4", "automatic", "fwd", "gasoline"), 27_800),
    entry(VinSpec("4S4BTACC", '3', 2020, 2024), CarSpec("Subaru", "Outback", "Premium", "wagon", 4), Powertrain("2.5L flat-4", "cvt", "awd", "gasoline"), 32_400),
    entry(VinSpec("5XYP5DHC", 'G', 2020, 2024), CarSpec("Kia", "Telluride", "SX", "suv", 4), Powertrain("3.8L V6", "automatic", "awd", "gasoline"), 50_300),
    entry(VinSpec("1FMSK8DH", 'G', 2020, 2024), CarSpec("Ford", "Explorer", "XLT", "suv", 4), Powertrain("2.3L I4 turbo", "automatic", "four_wd", "gasoline"), 43_800),
    entry(VinSpec("KM8JBCAE", 'U', 2022, 2024), CarSpec("Hyundai", "Tucson", "SEL", "crossover", 4), Powertrain("2.5L I4", "automatic", "awd", "gasoline"), 31_300),
    entry(VinSpec("5TDYRKEC", 'S', 2021, 2024), CarSpec("Toyota", "Sienna", "XLE", "minivan", 4), Powertrain("2.5L I4 hybrid", "cvt", "fwd", "hybrid"), 44_600),
    entry(VinSpec("1N4BL4DV", 'C', 2019, 2024), CarSpec("Nissan", "Altima", "SV", "sedan", 4), Powertrain("2.5L I4", "cvt", "fwd", "gasoline"), 27_200),
    entry(VinSpec("1FA6P8CF", '5', 2018, 2024), CarSpec("Ford", "Mustang", "GT", "coupe", 2), Powertrain("5.0L V8", "manual", "rwd", "gasoline"), 44_100),
    entry(VinSpec("3VV3B7AX", 'M', 2018, 2024), CarSpec("Volkswagen", "Tiguan", "SE", "crossover", 4), Powertrain("2.0L I4 turbo", "automatic", "fwd", "gasoline"), 31_800),
    entry(VinSpec("5UX53DP0", '9', 2022, 2024), CarSpec("BMW", "X3", "xDrive30i", "suv", 4), Powertrain("2.0L I4 turbo", "automatic", "awd", "gasoline"), 49_900),
    entry(VinSpec("1C6SRFFT", 'N', 2019, 2024), CarSpec("Ram", "1500", "Big Horn", "pickup", 4), Powertrain("5.7L V8", "automatic", "four_wd", "gasoline"), 52_700),
    entry(VinSpec("JM3KFBDM", '0', 2018, 2021), CarSpec("Mazda", "CX-5", "Grand Touring", "crossover", 4), Powertrain("2.5L I4", "automatic", "awd", "gasoline"), 32_200),
    entry(VinSpec("7SAYGDEE", 'F', 2022, 2024), CarSpec("Tesla", "Model Y", "Long Range", "crossover", 4), Powertrain("Dual electric motors", "direct_drive", "awd", "electric"), 50_500),
    entry(VinSpec("3TMCZ5AN", 'M', 2019, 2023), CarSpec("Toyota", "Tacoma", "SR5", "pickup", 4), Powertrain("3.5L V6", "automatic", "four_wd", "gasoline"), 39_400),
    entry(VinSpec("5FNRL6H9", 'B', 2018, 2024), CarSpec("Honda", "Odyssey", "Elite", "minivan", 4), Powertrain("3.5L V6", "automatic", "fwd", "gasoline"), 51_200),
    entry(VinSpec("1C4HJXEN", 'W', 2018, 2024), CarSpec("Jeep", "Wrangler", "Unlimited Sahara", "suv", 4), Powertrain("3.6L V6", "automatic", "four_wd", "gasoline"), 49_500),
    entry(VinSpec("3GNAXUEV", 'S', 2019, 2024), CarSpec("Chevrolet", "Equinox", "LT", "crossover", 4), Powertrain("1.5L I4 turbo", "automatic", "awd", "gasoline"), 31_600),
    entry(VinSpec("19XFC2F7", 'E', 2016, 2020), CarSpec("Honda", "Civic", "EX", "sedan", 4), Powertrain("2.0L I4", "cvt", "fwd", "gasoline"), 24_200),
    entry(VinSpec("1N4AZ1CV", 'C', 2020, 2024), CarSpec("Nissan", "Leaf", "SV", "hatchback", 4), Powertrain("Single electric motor", "direct_drive", "fwd", "electric"), 36_200),
    entry(VinSpec("WA1BAAFY", '2', 2021, 2024), CarSpec("Audi", "Q5", "Premium Plus", "suv", 4), Powertrain("2.0L I4 turbo", "dual_clutch", "awd", "gasoline"), 51_800),
    entry(VinSpec("2C4RC1BG", 'R', 2018, 2024), CarSpec("Chrysler", "Pacifica", "Touring L", "minivan", 4), Powertrain("3.6L V6", "automatic", "fwd", "gasoline"), 42_300),
    entry(VinSpec("1FATP8UH", '5', 2018, 2023), CarSpec("Ford", "Mustang", "EcoBoost Convertible", "convertible", 2), Powertrain("2.3L I4 turbo", "automatic", "rwd", "gasoline"), 37_600),
    entry(VinSpec("2T3RWRFV", 'C', 2019, 2024), CarSpec("Toyota", "RAV4", "XLE Hybrid", "crossover", 4), Powertrain("2.5L I4 hybrid", "cvt", "awd", "hybrid"), 33_500),
    entry(VinSpec("1GNSKNKD", 'R', 2021, 2024), CarSpec("Chevrolet", "Tahoe", "LT", "suv", 4), Powertrain("5.3L V8", "automatic", "four_wd", "gasoline"), 66_900),
    entry(VinSpec("5NPEG4JA", 'H', 2020, 2024), CarSpec("Hyundai", "Sonata", "SE", "sedan", 4), Powertrain("2.5L I4", "automatic", "fwd", "gasoline"), 26_100),
    entry(VinSpec("1FT7W2BT", 'E', 2019, 2024), CarSpec("Ford", "F-250", "XLT", "pickup", 4), Powertrain("6.7L V8 turbo diesel", "automatic", "four_wd", "diesel"), 68_300),
    entry(VinSpec("5N1BT3BB", 'C', 2021, 2024), CarSpec("Nissan", "Rogue", "SV", "crossover", 4), Powertrain("1.5L I3 turbo", "cvt", "awd", "gasoline"), 32_700),
    entry(VinSpec("55SWF8DB", 'U', 2019, 2021), CarSpec("Mercedes-Benz", "C-Class", "C300", "sedan", 4), Powertrain("2.0L I4 turbo", "automatic", "rwd", "gasoline"), 43_900),
    entry(VinSpec("JF2SKASC", 'H', 2019, 2021), CarSpec("Subaru", "Forester", "Limited", "crossover", 4), Powertrain("2.5L flat-4", "cvt", "awd", "gasoline"), 32_100),
    entry(VinSpec("3FMTK3SU", 'M', 2021, 2024), CarSpec("Ford", "Mustang Mach-E", "Premium", "crossover", 4), Powertrain("Dual electric motors", "direct_drive", "awd", "electric"), 52_900),
    entry(VinSpec("5YFS4MCE", 'P', 2020, 2024), CarSpec("Toyota", "Corolla", "SE", "sedan", 4), Powertrain("2.0L I4", "cvt", "fwd", "gasoline"), 24_900),
    entry(VinSpec("1C4JJXP6", 'W', 2021, 2024), CarSpec("Jeep", "Wrangler", "Sahara 4xe", "suv", 4), Powertrain("2.0L I4 turbo plug-in hybrid", "automatic", "four_wd", "plug_in_hybrid"), 58_400),
    entry(VinSpec("1G1ZD5ST", 'F', 2018, 2024), CarSpec("Chevrolet", "Malibu", "LT", "sedan", 4), Powertrain("1.5L I4 turbo", "cvt", "fwd", "gasoline"), 28_400),
    entry(VinSpec("5TDGZRBH", 'S', 2020, 2022), CarSpec("Toyota", "Highlander", "XLE", "suv", 4), Powertrain("3.5L V6", "automatic", "awd", "gasoline"), 43_200),
    entry(VinSpec("3VW6T7AU", 'M', 2019, 2021), CarSpec("Volkswagen", "Golf GTI", "SE", "hatchback", 4), Powertrain("2.0L I4 turbo", "dual_clutch", "fwd", "gasoline"), 34_600),
    entry(VinSpec("2T2BZMCA", 'C', 2016, 2019), CarSpec("Lexus", "RX", "350", "suv", 4), Powertrain("3.5L V6", "automatic", "awd", "gasoline"), 47_300),
    entry(VinSpec("1FTBR1Y8", 'K', 2019, 2024), CarSpec("Ford", "Transit", "250 Low Roof", "van", 3), Powertrain("3.5L V6", "automatic", "rwd", "gasoline"), 48_600),
    entry(VinSpec("KM8KRDAF", 'U', 2022, 2024), CarSpec("Hyundai", "Ioniq 5", "Limited", "crossover", 4), Powertrain("Dual electric motors", "direct_drive", "awd", "electric"), 57_200),
    entry(VinSpec("1HGCY1F3", 'A', 2023, 2024), CarSpec("Honda", "Accord", "EX", "sedan", 4), Powertrain("1.5L I4 turbo", "cvt", "fwd", "gasoline"), 31_000),
    entry(VinSpec("1GNSKBKC", 'R', 2016, 2020), CarSpec("Chevrolet", "Tahoe", "LT", "suv", 4), Powertrain("5.3L V8", "automatic", "four_wd", "flex_fuel"), 58_700),
    entry(VinSpec("JM1NDAD7", '0', 2018, 2024), CarSpec("Mazda", "MX-5 Miata", "Grand Touring", "convertible", 2), Powertrain("2.0L I4", "manual", "rwd", "gasoline"), 35_200),
    entry(VinSpec("1C4RJHBG", 'C', 2022, 2024), CarSpec("Jeep", "Grand Cherokee", "Limited", "suv", 4), Powertrain("3.6L V6", "automatic", "four_wd", "gasoline"), 49_100),
    entry(VinSpec("JTDKARFP", '3', 2018, 2020), CarSpec("Toyota", "Prius Prime", "Premium", "hatchback", 4), Powertrain("1.8L I4 plug-in hybrid", "cvt", "fwd", "plug_in_hybrid"), 30_300),
    entry(VinSpec("5UXCR6C0", '9', 2020, 2023), CarSpec("BMW", "X5", "xDrive40i", "suv", 4), Powertrain("3.0L I6 turbo", "automatic", "awd", "gasoline"), 66_400),
    entry(VinSpec("4T1K61AK", 'U', 2020, 2024), CarSpec("Toyota", "Camry", "XSE", "sedan", 4), Powertrain("2.5L I4", "automatic", "fwd", "gasoline"), 33_300),
    entry(VinSpec("1GCUYDED", 'Z', 2019, 2021), CarSpec("Chevrolet", "Silverado 1500", "LT", "pickup", 4), Powertrain("5.3L V8", "automatic", "four_wd", "gasoline"), 49_300),
    entry(VinSpec("1FMCU9G6", 'U', 2020, 2022), CarSpec("Ford", "Escape", "SE", "crossover", 4), Powertrain("1.5L I3 turbo", "automatic", "awd", "gasoline"), 30_400),
    entry(VinSpec("3C6UR5DL", 'G', 2019, 2024), CarSpec("Ram", "2500", "Big Horn", "pickup", 4), Powertrain("6.7L I6 turbo diesel", "automatic", "four_wd", "diesel"), 67_500),
    entry(VinSpec("2HKRW2H5", 'H', 2017, 2022), CarSpec("Honda", "CR-V", "EX", "crossover", 4), Powertrain("1.5L I4 turbo", "cvt", "awd", "gasoline"), 31_000),
    entry(VinSpec("KM8J3CA4", 'U', 2017, 2021), CarSpec("Hyundai", "Tucson", "SEL", "crossover", 4), Powertrain("2.0L I4", "automatic", "awd", "gasoline"), 27_000),
    entry(VinSpec("1G1FY6S0", '4', 2019, 2022), CarSpec("Chevrolet", "Bolt EV", "LT", "hatchback", 4), Powertrain("Single electric motor", "direct_drive", "fwd", "electric"), 34_500),
    entry(VinSpec("W1KZF8DB", 'A', 2020, 2023), CarSpec("Mercedes-Benz", "E-Class", "E350", "sedan", 4), Powertrain("2.0L I4 turbo", "automatic", "rwd", "gasoline"), 57_800),
    entry(VinSpec("5XYRKDLF", 'G', 2021, 2024), CarSpec("Kia", "Sorento", "SX", "suv", 4), Powertrain("2.5L I4 turbo", "dual_clutch", "awd", "gasoline"), 42_600),
    entry(VinSpec("3C4NJDCB", 'T', 2018, 2022), CarSpec("Jeep", "Compass", "Limited", "crossover", 4), Powertrain("2.4L I4", "automatic", "four_wd", "gasoline"), 32_500),
    entry(VinSpec("19XFL2H8", 'N', 2022, 2024), CarSpec("Honda", "Civic", "Sport", "hatchback", 4), Powertrain("2.0L I4", "cvt", "fwd", "gasoline"), 26_900),
    entry(VinSpec("1GTU9DED", 'Z', 2019, 2021), CarSpec("GMC", "Sierra 1500", "SLT", "pickup", 4), Powertrain("5.3L V8", "automatic", "four_wd", "gasoline"), 53_400),
    entry(VinSpec("3VW7M7BU", 'M', 2022, 2024), CarSpec("Volkswagen", "Jetta", "SE", "sedan", 4), Powertrain("1.5L I4 turbo", "automatic", "fwd", "gasoline"), 25_700),
    entry(VinSpec("3VW2B7AJ", 'M', 2016, 2018), CarSpec("Volkswagen", "Jetta", "S", "sedan", 4), Powertrain("1.4L I4 turbo", "manual", "fwd", "gasoline"), 19_800),
    entry(VinSpec("WBA5R1C5", 'A', 2021, 2022), CarSpec("BMW", "330i", "Sport Line", "sedan", 4), Powertrain("2.0L I4 turbo", "automatic", "rwd", "gasoline"), 43_300),
    entry(VinSpec("2C4RC1N7", 'R', 2019, 2021), CarSpec("Chrysler", "Pacifica", "Hybrid Limited", "minivan", 4), Powertrain("3.6L V6 plug-in hybrid", "cvt", "fwd", "plug_in_hybrid"), 47_900),
    entry(VinSpec("1G1FF3D7", '0', 2018, 2024), CarSpec("Chevrolet", "Camaro", "1SS", "convertible", 2), Powertrain("6.2L V8", "automatic", "rwd", "gasoline"), 49_700),
    entry(VinSpec("JTDBVRBD", 'A', 2016, 2020), CarSpec("Toyota", "Mirai", "Base", "sedan", 4), Powertrain("Fuel cell electric motor", "direct_drive", "fwd", "hydrogen"), 58_500),
    entry(VinSpec("5TFJA5DB", 'X', 2022, 2024), CarSpec("Toyota", "Tundra", "Limited", "pickup", 4), Powertrain("3.4L V6 turbo", "automatic", "four_wd", "gasoline"), 60_200),
    entry(VinSpec("5FNYF6H5", 'B', 2016, 2022), CarSpec("Honda", "Pilot", "EX-L", "suv", 4), Powertrain("3.5L V6", "automatic", "awd", "gasoline"), 42_800),
];
